package kms

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"recordbridge/shared/words/fault"
)

// SigningClient is the part of the KMS client that SigningKeys uses.
type SigningClient interface {
	GetPublicKey(ctx context.Context, in *kms.GetPublicKeyInput, o ...func(*kms.Options)) (*kms.GetPublicKeyOutput, error)
	Sign(ctx context.Context, in *kms.SignInput, o ...func(*kms.Options)) (*kms.SignOutput, error)
}

// SigningKeys signs with key pairs in KMS, identified by key ID or ARN. The private keys never leave KMS, so every
// signature requires a KMS call. SigningKeys implements jws.Vault.
type SigningKeys struct {
	client SigningClient
	name   fault.KeyName // names the keys in errors, whose text contains the key's ARN
}

// ClientKeys returns the keys that authenticate our client to health systems.
func ClientKeys(client SigningClient) SigningKeys {
	return SigningKeys{client: client, name: "ClientKeys"}
}

// ManifestKeys returns the keys that sign exports' manifests.
func ManifestKeys(client SigningClient) SigningKeys {
	return SigningKeys{client: client, name: "ManifestKeys"}
}

// minModulus is the minimum length of an RSA key in bits (RFC 7518 section 3.3).
const minModulus = 2048

var (
	errPurpose = errors.New("the KMS key is not for signing")
	errKeyKind = errors.New("the KMS key is neither RSA nor on P-384")
	errDigest  = errors.New("a KMS key signs digests of SHA-384, RSA ones with PKCS #1 v1.5")
)

// Public returns a key pair's public key: an *rsa.PublicKey, or an *ecdsa.PublicKey on P-384. Public rejects other key
// types. Public also rejects keys for encryption or key agreement because KMS doesn't sign with such keys.
func (k SigningKeys) Public(ctx context.Context, keyID string) (crypto.PublicKey, error) {
	out, err := k.client.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &keyID})
	if err != nil {
		return nil, failed(k.name, fmt.Errorf("public key of %s: %w", keyID, err))
	}
	if out.KeyUsage != types.KeyUsageTypeSignVerify {
		return nil, fmt.Errorf("public key of %s: %w", keyID, errPurpose)
	}
	public, err := x509.ParsePKIXPublicKey(out.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("public key of %s: %w", keyID, err)
	}
	if _, ok := signingAlgorithm(public); !ok {
		return nil, fmt.Errorf("public key of %s: %w", keyID, errKeyKind)
	}
	return public, nil
}

// Signer returns a signer for the key pair whose public key, as returned by Public, is public. The signer signs only
// SHA-384 digests, using RSASSA-PKCS1-v1_5 for RSA and ECDSA in ASN.1 form for P-384. The signer calls KMS with ctx and
// must not be used after ctx ends.
func (k SigningKeys) Signer(ctx context.Context, keyID string, public crypto.PublicKey) crypto.Signer {
	return signer{public: public, sign: func(digest []byte) ([]byte, error) { return k.sign(ctx, keyID, public, digest) }}
}

func (k SigningKeys) sign(ctx context.Context, keyID string, public crypto.PublicKey, digest []byte) ([]byte, error) {
	algorithm, ok := signingAlgorithm(public)
	if !ok {
		return nil, fmt.Errorf("sign with %s: %w", keyID, errKeyKind)
	}
	out, err := k.client.Sign(ctx, &kms.SignInput{
		KeyId: &keyID, Message: digest, MessageType: types.MessageTypeDigest, SigningAlgorithm: algorithm,
	})
	if err != nil {
		return nil, failed(k.name, fmt.Errorf("sign with %s: %w", keyID, err))
	}
	return out.Signature, nil
}

// signingAlgorithm returns KMS's name for a key's signing algorithm. ok is false if the key is unsupported.
func signingAlgorithm(public crypto.PublicKey) (algorithm types.SigningAlgorithmSpec, ok bool) {
	switch key := public.(type) {
	case *rsa.PublicKey:
		return types.SigningAlgorithmSpecRsassaPkcs1V15Sha384, key.N.BitLen() >= minModulus
	case *ecdsa.PublicKey:
		return types.SigningAlgorithmSpecEcdsaSha384, key.Curve == elliptic.P384()
	}
	return "", false
}

// signer is a crypto.Signer whose private key is in KMS. A signer can't be used after its context ends.
type signer struct {
	public crypto.PublicKey
	sign   func(digest []byte) ([]byte, error)
}

// Public implements crypto.Signer.
func (s signer) Public() crypto.PublicKey { return s.public }

// Sign implements crypto.Signer. The random source is ignored because KMS provides randomness.
func (s signer) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	_, pss := opts.(*rsa.PSSOptions)
	if pss || opts == nil || opts.HashFunc() != crypto.SHA384 || len(digest) != crypto.SHA384.Size() {
		return nil, errDigest
	}
	return s.sign(digest)
}
