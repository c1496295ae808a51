package kms

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"
	"strings"

	"recordbridge/infra/local/aws/wire"
)

type getPublicKeyInput struct {
	KeyID string `json:"KeyId"`
}

type getPublicKeyOutput struct {
	KeyID             string `json:"KeyId"`
	PublicKey         []byte // SubjectPublicKeyInfo in DER form
	KeySpec           string
	KeyUsage          string
	SigningAlgorithms []string
}

func (s *Server) getPublicKey(_ context.Context, in *getPublicKeyInput) (any, error) {
	k, err := s.usable(in.KeyID)
	if err != nil {
		return nil, err
	}
	if k.Usage != useSign {
		return nil, wire.Fail("UnsupportedOperationException", "%s key spec is %s which is not valid for this operation.",
			k.arn(), k.Spec)
	}
	if k, err = s.ready(k); err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(k.signer.Public())
	if err != nil {
		return nil, fmt.Errorf("kms: public key: %w", err)
	}
	return getPublicKeyOutput{
		KeyID: k.arn(), PublicKey: der, KeySpec: k.Spec, KeyUsage: k.Usage,
		SigningAlgorithms: signingAlgorithms(k.Spec),
	}, nil
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
	algorithm, known := algorithms()[in.SigningAlgorithm]
	switch {
	case len(in.Message) == 0 || len(in.Message) > maxMessage:
		return nil, invalid("message", "Member must have length between 1 and %d", maxMessage)
	case in.MessageType != "" && in.MessageType != messageRaw && in.MessageType != messageDigest:
		return nil, invalid("messageType", "Member must satisfy enum value set: [%s, %s]", messageDigest, messageRaw)
	case !known:
		return nil, invalid("signingAlgorithm", "Member must satisfy enum value set: [%s]",
			strings.Join(slices.Sorted(maps.Keys(algorithms())), ", "))
	}
	k, err := s.findSigning(in.KeyID)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(signingAlgorithms(k.Spec), in.SigningAlgorithm) {
		return nil, wire.Fail("InvalidKeyUsageException", "Algorithm %s is incompatible with key spec %s.",
			in.SigningAlgorithm, k.Spec)
	}
	digest := in.Message
	if in.MessageType != messageDigest {
		h := algorithm.HashFunc().New()
		_, _ = h.Write(in.Message) // a hash's Write never fails
		digest = h.Sum(nil)
	}
	if len(digest) != algorithm.HashFunc().Size() {
		return nil, wire.Fail("ValidationException", "Digest is invalid length for algorithm %s.", in.SigningAlgorithm)
	}
	if k, err = s.ready(k); err != nil {
		return nil, err
	}
	signature, err := k.signer.Sign(rand.Reader, digest, algorithm)
	if err != nil {
		return nil, fmt.Errorf("kms: sign: %w", err)
	}
	return signOutput{KeyID: k.arn(), Signature: signature, SigningAlgorithm: in.SigningAlgorithm}, nil
}

func (s *Server) findSigning(keyID string) (*key, error) {
	k, err := s.usable(keyID)
	if err == nil && k.Usage != useSign {
		return nil, wire.Fail("InvalidKeyUsageException", "%s key usage is %s which is not valid for this operation.",
			k.arn(), k.Usage)
	}
	return k, err
}

const (
	messageRaw    = "RAW"
	messageDigest = "DIGEST"
	maxMessage    = 4096

	algorithmECDSA = "ECDSA_SHA_384"
	algorithmRSA   = "RSASSA_PKCS1_V1_5_SHA_384"
)

// algorithms maps the supported signing algorithms to their options for crypto.Signer.
func algorithms() map[string]crypto.SignerOpts {
	return map[string]crypto.SignerOpts{algorithmECDSA: crypto.SHA384, algorithmRSA: crypto.SHA384}
}

func signingAlgorithms(spec string) []string {
	switch spec {
	case specP384:
		return []string{algorithmECDSA}
	case specRSA:
		return []string{algorithmRSA}
	default:
		return nil
	}
}
