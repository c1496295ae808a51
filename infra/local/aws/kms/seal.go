package kms

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"recordbridge/infra/local/aws/wire"
)

const (
	maxCiphertext = 6144
	dataKeySize   = 32 // size of an AES_256 key in bytes
	blobVersion   = 1
	blobHeader    = 1 + 16 // version and key ID, followed by nonce and ciphertext
	algorithmName = specSymmetric
)

type decryptInput struct {
	KeyID               string `json:"KeyId"`
	CiphertextBlob      []byte
	EncryptionContext   map[string]string
	EncryptionAlgorithm string
}

type decryptOutput struct {
	Plaintext           []byte
	KeyID               string `json:"KeyId"`
	EncryptionAlgorithm string
}

// decrypt selects the key named in the blob's header. If the caller also specifies a key, it must be that key.
func (s *Server) decrypt(_ context.Context, in *decryptInput) (any, error) {
	if len(in.CiphertextBlob) == 0 || len(in.CiphertextBlob) > maxCiphertext {
		return nil, invalid("ciphertextBlob", "Member must have length between 1 and %d", maxCiphertext)
	}
	if in.EncryptionAlgorithm != "" && in.EncryptionAlgorithm != algorithmName {
		return nil, wire.Fail("InvalidKeyUsageException", "Algorithm %s is incompatible with key spec %s.",
			in.EncryptionAlgorithm, specSymmetric)
	}
	var named *key
	if in.KeyID != "" {
		var err error
		if named, err = s.findSealing(in.KeyID); err != nil {
			return nil, err
		}
	}
	if len(in.CiphertextBlob) < blobHeader || in.CiphertextBlob[0] != blobVersion {
		return nil, invalidCiphertext()
	}
	id := uuid.UUID(in.CiphertextBlob[1:blobHeader])
	if _, err := s.find(id.String()); err != nil {
		return nil, invalidCiphertext()
	}
	k, err := s.findSealing(id.String())
	if err != nil {
		return nil, err
	}
	if named != nil && named.ID != k.ID {
		return nil, wire.Fail("IncorrectKeyException",
			"The key ID in the request does not identify a CMK that can perform this operation.")
	}
	plaintext, err := k.open(in.CiphertextBlob, in.EncryptionContext)
	return decryptOutput{Plaintext: plaintext, KeyID: k.arn(), EncryptionAlgorithm: algorithmName}, err
}

type generateDataKeyInput struct {
	KeyID             string `json:"KeyId"`
	KeySpec           string
	NumberOfBytes     *int // not supported
	EncryptionContext map[string]string
}

type generateDataKeyOutput struct {
	CiphertextBlob []byte
	Plaintext      []byte
	KeyID          string `json:"KeyId"`
}

func (s *Server) generateDataKey(_ context.Context, in *generateDataKeyInput) (any, error) {
	if in.KeySpec != "AES_256" || in.NumberOfBytes != nil {
		return nil, wire.Fail("ValidationException", "The embedded KMS makes data keys of the spec AES_256 only.")
	}
	k, err := s.findSealing(in.KeyID)
	if err != nil {
		return nil, err
	}
	dataKey := make([]byte, dataKeySize)
	_, _ = rand.Read(dataKey) // rand.Read never fails
	blob, err := k.seal(dataKey, in.EncryptionContext)
	return generateDataKeyOutput{CiphertextBlob: blob, Plaintext: dataKey, KeyID: k.arn()}, err
}

func (s *Server) findSealing(keyID string) (*key, error) {
	k, err := s.usable(keyID)
	if err == nil && k.sealer == nil {
		return nil, wire.Fail("InvalidKeyUsageException", "%s key usage is %s which is not valid for this operation.",
			k.arn(), k.Usage)
	}
	return k, err
}

// seal encrypts plaintext into a blob that contains the key's ID, so that callers of Decrypt need not specify a key.
func (k *key) seal(plaintext []byte, encryptionContext map[string]string) ([]byte, error) {
	id, err := uuid.Parse(k.ID)
	if err != nil {
		return nil, fmt.Errorf("kms: key id: %w", err)
	}
	nonce := make([]byte, k.sealer.NonceSize())
	_, _ = rand.Read(nonce) // rand.Read never fails
	blob := append([]byte{blobVersion}, id[:]...)
	associated, err := associatedData(blob, encryptionContext)
	if err != nil {
		return nil, err
	}
	return k.sealer.Seal(append(blob, nonce...), nonce, plaintext, associated), nil
}

func (k *key) open(blob []byte, encryptionContext map[string]string) ([]byte, error) {
	header, rest := blob[:blobHeader], blob[blobHeader:]
	if len(rest) < k.sealer.NonceSize() {
		return nil, invalidCiphertext()
	}
	associated, err := associatedData(header, encryptionContext)
	if err != nil {
		return nil, err
	}
	nonce, sealed := rest[:k.sealer.NonceSize()], rest[k.sealer.NonceSize():]
	plaintext, err := k.sealer.Open(nil, nonce, sealed, associated)
	if err != nil {
		return nil, invalidCiphertext() // as in KMS, a wrong context is indistinguishable from a damaged blob
	}
	return plaintext, nil
}

// associatedData returns the additional authenticated data: the header and the encryption context. JSON encoding sorts
// the context's names, so their order does not matter. A missing context is equivalent to an empty one.
func associatedData(header []byte, encryptionContext map[string]string) ([]byte, error) {
	if len(encryptionContext) == 0 {
		encryptionContext = map[string]string{}
	}
	encoded, err := json.Marshal(encryptionContext)
	if err != nil {
		return nil, fmt.Errorf("kms: encryption context: %w", err)
	}
	return append(append([]byte{}, header...), encoded...), nil
}

// invalidCiphertext returns an error without a message, as KMS does.
func invalidCiphertext() error { return &wire.Error{Code: "InvalidCiphertextException"} }
