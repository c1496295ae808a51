package kms

import (
	"context"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const (
	useEncrypt = "ENCRYPT_DECRYPT"
	useSign    = "SIGN_VERIFY"

	specSymmetric = "SYMMETRIC_DEFAULT"
	specP384      = "ECC_NIST_P384"
	specRSA       = "RSA_2048"

	maxDescription = 8192
)

var aliasName = regexp.MustCompile(`^alias/[a-zA-Z0-9/_-]{1,250}$`)

var errNoSigner = errors.New("kms: the stored private key cannot sign")

// storedKey is a key's journal record. Material contains 32 random bytes for a symmetric key, or a PKCS #8 private key.
// Private keys are generated on first use, because generating an RSA key takes longer than the rest of startup.
// Material is empty until the private key has been generated.
type storedKey struct {
	ID          string    `json:"id"`
	Spec        string    `json:"spec"`
	Usage       string    `json:"usage"`
	Description string    `json:"description,omitempty"`
	Created     time.Time `json:"created"`
	Disabled    bool      `json:"disabled,omitempty"`
	Material    []byte    `json:"material"`
}

// key is a stored key with its cipher or signer. A symmetric key has a sealer. Once its private key has been generated,
// an asymmetric key has a signer.
type key struct {
	storedKey

	sealer cipher.AEAD
	signer crypto.Signer
}

func (k *key) arn() string { return arnPrefix + "key/" + k.ID }

func loadKey(stored storedKey) (*key, error) {
	if stored.Usage == useEncrypt {
		block, err := aes.NewCipher(stored.Material)
		if err != nil {
			return nil, fmt.Errorf("kms key %s: %w", stored.ID, err)
		}
		sealer, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("kms key %s: %w", stored.ID, err)
		}
		return &key{storedKey: stored, sealer: sealer}, nil
	}
	if len(stored.Material) == 0 {
		return &key{storedKey: stored}, nil
	}
	private, err := x509.ParsePKCS8PrivateKey(stored.Material)
	if err != nil {
		return nil, fmt.Errorf("kms key %s: %w", stored.ID, err)
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, errNoSigner
	}
	return &key{storedKey: stored, signer: signer}, nil
}

type createKeyInput struct {
	Description string
	KeySpec     string
	KeyUsage    string
}

type metadata struct {
	AWSAccountID string `json:"AWSAccountId"`
	KeyID        string `json:"KeyId"`
	ARN          string `json:"Arn"`
	CreationDate int64
	Description  string
	Enabled      bool
	KeyManager   string
	KeySpec      string
	KeyState     string
	KeyUsage     string
	MultiRegion  bool
	Origin       string

	EncryptionAlgorithms []string `json:",omitempty"`
	SigningAlgorithms    []string `json:",omitempty"`
}

type keyMetadataOutput struct {
	KeyMetadata metadata
}

func (k *key) describe() keyMetadataOutput {
	m := metadata{
		AWSAccountID: account, KeyID: k.ID, ARN: k.arn(), CreationDate: k.Created.Unix(), Description: k.Description,
		Enabled: !k.Disabled, KeyManager: "CUSTOMER", KeySpec: k.Spec, KeyState: "Enabled", KeyUsage: k.Usage,
		Origin:            "AWS_KMS",
		SigningAlgorithms: signingAlgorithms(k.Spec),
	}
	if k.Disabled {
		m.KeyState = "Disabled"
	}
	if k.sealer != nil {
		m.EncryptionAlgorithms = []string{specSymmetric}
	}
	return keyMetadataOutput{KeyMetadata: m}
}

func (s *Server) createKey(_ context.Context, in *createKeyInput) (any, error) {
	spec, usage := in.KeySpec, in.KeyUsage
	if spec == "" {
		spec = specSymmetric
	}
	if usage == "" {
		usage = useEncrypt
	}
	if len(in.Description) > maxDescription {
		return nil, invalid("description", "Member must have length less than or equal to %d", maxDescription)
	}
	if (spec == specSymmetric) != (usage == useEncrypt) {
		return nil, wire.Fail("ValidationException",
			"KeyUsage %s is not compatible with KeySpec %s in the embedded AWS", usage, spec)
	}
	stored := storedKey{ID: uuid.NewString(), Spec: spec, Usage: usage, Description: in.Description, Created: time.Now()}
	switch {
	case spec == specSymmetric:
		stored.Material = make([]byte, 32)
		_, _ = rand.Read(stored.Material) // rand.Read never fails
	case signingAlgorithms(spec) == nil:
		return nil, wire.Fail("UnsupportedOperationException", "KeySpec %s is not part of the embedded AWS", spec)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.commit(record{Key: &stored}); err != nil {
		return nil, err
	}
	return s.keys[stored.ID].describe(), nil
}

// ready returns k with its private key, which it generates on first use.
func (s *Server) ready(k *key) (*key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k = s.keys[k.ID]; k.signer != nil {
		return k, nil
	}
	private, err := newPrivate(k.Spec)
	if err != nil {
		return nil, fmt.Errorf("kms key %s: %w", k.ID, err)
	}
	stored := k.storedKey
	if stored.Material, err = x509.MarshalPKCS8PrivateKey(private); err != nil {
		return nil, fmt.Errorf("kms key %s: %w", k.ID, err)
	}
	if err := s.commit(record{Key: &stored}); err != nil {
		return nil, err
	}
	return s.keys[k.ID], nil
}

func newPrivate(spec string) (crypto.Signer, error) {
	if spec == specP384 {
		return ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	}
	return rsa.GenerateKey(rand.Reader, 2048)
}

type createAliasInput struct {
	AliasName   string
	TargetKeyID string `json:"TargetKeyId"`
}

func (s *Server) createAlias(_ context.Context, in *createAliasInput) (any, error) {
	if !aliasName.MatchString(in.AliasName) {
		return nil, wire.Fail("ValidationException",
			"Alias must start with the prefix \"alias/\" and may hold letters, digits, /, _ and -")
	}
	if strings.HasPrefix(in.AliasName, "alias/aws/") {
		return nil, wire.Fail("NotAuthorizedException", "Aliases that start with alias/aws/ are AWS's own")
	}
	if strings.Contains(in.TargetKeyID, "alias/") {
		return nil, wire.Fail("ValidationException", "Aliases must refer to keys. Not aliases")
	}
	k, err := s.find(in.TargetKeyID)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.aliases[in.AliasName]; taken {
		return nil, wire.Fail("AlreadyExistsException", "An alias with the name %s already exists", arnPrefix+in.AliasName)
	}
	return nil, s.commit(record{Alias: in.AliasName, Target: k.ID})
}

type describeKeyInput struct {
	KeyID string `json:"KeyId"`
}

func (s *Server) describeKey(_ context.Context, in *describeKeyInput) (any, error) {
	k, err := s.find(in.KeyID)
	if err != nil {
		return nil, err
	}
	return k.describe(), nil
}

func (s *Server) disableKey(_ context.Context, in *describeKeyInput) (any, error) {
	return nil, s.disable(in.KeyID, true)
}

func (s *Server) enableKey(_ context.Context, in *describeKeyInput) (any, error) {
	return nil, s.disable(in.KeyID, false)
}

func (s *Server) disable(keyID string, disabled bool) error {
	if strings.Contains(keyID, "alias/") {
		return wire.Fail("InvalidArnException", "Aliases are not valid for this operation")
	}
	k, err := s.find(keyID)
	if err != nil {
		return err
	}
	changed := k.storedKey
	changed.Disabled = disabled
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commit(record{Key: &changed})
}
