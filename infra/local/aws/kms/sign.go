package kms

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"fmt"

	"recordbridge/infra/local/aws/wire"
)

type getPublicKeyInput struct {
	KeyID string `json:"KeyId"`
}

type getPublicKeyOutput struct {
	KeyID             string `json:"KeyId"`
	PublicKey         []byte // DER of a SubjectPublicKeyInfo
	KeySpec           string
	KeyUsage          string
	SigningAlgorithms []string
}

func (s *Server) getPublicKey(_ context.Context, in *getPublicKeyInput) (any, error) {
	k, err := s.findSigning(in.KeyID)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(k.signer.Public())
	if err != nil {
		return nil, fmt.Errorf("kms: public key: %w", err)
	}
	return getPublicKeyOutput{KeyID: k.arn(), PublicKey: der, KeySpec: k.Spec, KeyUsage: k.Usage, SigningAlgorithms: k.algorithms()}, nil
}

type signInput struct {
	KeyID            string `json:"KeyId"`
	Message          []byte
	MessageType      string // RAW (the default) or DIGEST
	SigningAlgorithm string
}

type signOutput struct {
	KeyID            string `json:"KeyId"`
	Signature        []byte // PKCS #1 v1.5, or the ASN.1 form of an ECDSA signature
	SigningAlgorithm string
}

func (s *Server) sign(_ context.Context, in *signInput) (any, error) {
	if len(in.Message) == 0 || len(in.Message) > maxPlaintext {
		return nil, wire.Fail("ValidationException", "1 validation error detected: Value at 'message' failed to satisfy constraint: Member must have length between 1 and %d", maxPlaintext)
	}
	k, err := s.findSigning(in.KeyID)
	if err != nil {
		return nil, err
	}
	hash, err := k.hash(in.SigningAlgorithm)
	if err != nil {
		return nil, err
	}
	digest := in.Message
	if in.MessageType != "DIGEST" {
		h := hash.New()
		_, _ = h.Write(in.Message) // a hash never fails
		digest = h.Sum(nil)
	}
	if len(digest) != hash.Size() {
		return nil, wire.Fail("ValidationException", "Digest is invalid length for algorithm %s.", in.SigningAlgorithm)
	}
	signature, err := k.signer.Sign(rand.Reader, digest, hash)
	if err != nil {
		return nil, fmt.Errorf("kms: sign: %w", err)
	}
	return signOutput{KeyID: k.arn(), Signature: signature, SigningAlgorithm: in.SigningAlgorithm}, nil
}

func (s *Server) findSigning(keyID string) (*key, error) {
	k, err := s.find(keyID)
	if err == nil && k.signer == nil {
		return nil, wire.Fail("InvalidKeyUsageException", "%s key usage is %s which is not valid for this operation.", k.arn(), k.Usage)
	}
	return k, err
}

// algorithms are those of SMART's asymmetric client authentication (RS384, ES384) and RS256.
func (k *key) algorithms() []string {
	if _, elliptic := k.signer.(*ecdsa.PrivateKey); elliptic {
		return []string{"ECDSA_SHA_384"}
	}
	return []string{"RSASSA_PKCS1_V1_5_SHA_256", "RSASSA_PKCS1_V1_5_SHA_384"}
}

func (k *key) hash(algorithm string) (crypto.Hash, error) {
	for _, offered := range k.algorithms() {
		switch {
		case offered != algorithm:
		case algorithm == "RSASSA_PKCS1_V1_5_SHA_256":
			return crypto.SHA256, nil
		default:
			return crypto.SHA384, nil
		}
	}
	return 0, wire.Fail("InvalidKeyUsageException", "Algorithm %s is incompatible with key spec %s.", algorithm, k.Spec)
}
