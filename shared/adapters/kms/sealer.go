// Package kms encrypts data under keys that only KMS can unwrap. Data is envelope-encrypted: AES-256-GCM with a data
// key per tenant. Each ciphertext is bound to its tenant (in the KMS encryption context) and to its storage location,
// so it can't be decrypted elsewhere. Unwrapped data keys are cached in memory for minutes and are never written to
// storage.
package kms

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Client is the part of the KMS client that a Sealer uses.
type Client interface {
	GenerateDataKey(ctx context.Context, in *kms.GenerateDataKeyInput,
		o ...func(*kms.Options)) (*kms.GenerateDataKeyOutput, error)
	Decrypt(ctx context.Context, in *kms.DecryptInput, o ...func(*kms.Options)) (*kms.DecryptOutput, error)
}

const (
	// format is the first byte of sealed data, which distinguishes this format from future formats.
	format = 1
	// keyLife and keyUses limit how long and how often a data key encrypts data. keyLife also limits how long an
	// unwrapped key is cached.
	keyLife = 5 * time.Minute
	keyUses = 1000
	// cacheSize is the maximum number of unwrapped keys in each of a Sealer's two caches.
	cacheSize = 256
)

// Key is a KMS key that encrypts data keys.
type Key struct {
	name fault.KeyName
	id   string
}

// TokensKey returns the stack's key for patients' tokens and records, given its ID or ARN.
func TokensKey(id string) Key { return Key{"TokensKey", id} }

// SecretsKey returns the stack's key for the secrets of webhooks, clients and sign-ins, given its ID or ARN.
func SecretsKey(id string) Key { return Key{"SecretsKey", id} }

// Sealer encrypts and decrypts data under one KMS key for one purpose. A Sealer is safe for concurrent use.
type Sealer struct {
	client  Client
	key     Key
	purpose string
	sealing *cache.Cache[org.Tenant, *dataKey]
	opening *cache.Cache[[sha256.Size]byte, *dataKey]
}

// dataKey holds a data key in unwrapped and wrapped form.
type dataKey struct {
	aead    cipher.AEAD
	wrapped []byte
	uses    atomic.Int64
}

// New returns a Sealer that uses a KMS key. The purpose is part of the encryption context, so data sealed for one
// purpose can't be opened for another. If KMS fails, the Sealer's errors name the key (fault.Outage).
func New(client Client, key Key, purpose string, now func() time.Time) *Sealer {
	return &Sealer{
		client: client, key: key, purpose: purpose,
		sealing: cache.New[org.Tenant, *dataKey](cacheSize, keyLife, now),
		opening: cache.New[[sha256.Size]byte, *dataKey](cacheSize, keyLife, now),
	}
}

// Seal encrypts plain for a tenant and binds the ciphertext to boundTo. Open requires the same tenant and boundTo that
// were passed to Seal. The sealed data consists of the format byte, the two-byte length of the wrapped data key, the
// wrapped key, the nonce and the ciphertext.
func (s *Sealer) Seal(ctx context.Context, tenant org.Tenant, boundTo string, plain []byte) ([]byte, error) {
	key, err := s.sealingKey(ctx, tenant)
	if err != nil {
		return nil, err
	}
	sealed := make([]byte, 0, 3+len(key.wrapped)+len(plain)+key.aead.Overhead())
	sealed = append(sealed, format)
	//nolint:gosec // KMS's ciphertexts are below 6 KiB
	sealed = binary.BigEndian.AppendUint16(sealed, uint16(len(key.wrapped)))
	sealed = append(sealed, key.wrapped...)
	//nolint:gosec // G407: this AEAD makes its own random nonce
	return key.aead.Seal(sealed, nil, plain, []byte(boundTo)), nil
}

// errDamaged means that sealed data is malformed, was changed, or was sealed with a different boundTo.
var errDamaged = errors.New("sealed data does not open")

// Open decrypts data that Seal encrypted for the same tenant, purpose and boundTo.
func (s *Sealer) Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error) {
	if len(sealed) < 3 || sealed[0] != format {
		return nil, errDamaged
	}
	size := int(binary.BigEndian.Uint16(sealed[1:3]))
	if len(sealed) < 3+size {
		return nil, errDamaged
	}
	key, err := s.openingKey(ctx, tenant, sealed[3:3+size])
	if err != nil {
		return nil, err
	}
	plain, err := key.aead.Open(nil, nil, sealed[3+size:], []byte(boundTo))
	if err != nil {
		return nil, errDamaged
	}
	return plain, nil
}

func (s *Sealer) sealingKey(ctx context.Context, tenant org.Tenant) (*dataKey, error) {
	if key, ok := s.sealing.Get(tenant); ok && key.uses.Add(1) <= keyUses {
		return key, nil
	}
	out, err := s.client.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: &s.key.id, KeySpec: types.DataKeySpecAes256, EncryptionContext: s.context(tenant),
	})
	if err != nil {
		return nil, failed(s.key.name, fmt.Errorf("generate data key: %w", err))
	}
	key, err := unwrapped(out.Plaintext, out.CiphertextBlob)
	if err != nil {
		return nil, err
	}
	key.uses.Store(1)
	s.sealing.Put(tenant, key)
	return key, nil
}

func (s *Sealer) openingKey(ctx context.Context, tenant org.Tenant, wrapped []byte) (*dataKey, error) {
	// The cache key includes the tenant, so that a cached data key can't decrypt data for another tenant. KMS would
	// reject a request to unwrap another tenant's key.
	name := sha256.Sum256(append([]byte(tenant.Key()+"|"), wrapped...))
	return s.opening.Load(name, func() (*dataKey, error) {
		out, err := s.client.Decrypt(ctx, &kms.DecryptInput{
			KeyId: &s.key.id, CiphertextBlob: wrapped, EncryptionContext: s.context(tenant),
		})
		if err != nil {
			return nil, failed(s.key.name, fmt.Errorf("unwrap data key: %w", err))
		}
		return unwrapped(out.Plaintext, wrapped)
	})
}

// failed adds the key's name to an error if KMS failed. If KMS rejected the ciphertext itself, the data is damaged.
func failed(key fault.KeyName, err error) error {
	if !fault.Outage(err) {
		return err
	}
	return fault.Spot{Key: key}.Failed(err)
}

func unwrapped(plain, wrapped []byte) (*dataKey, error) {
	block, err := aes.NewCipher(plain)
	if err != nil {
		return nil, fmt.Errorf("data key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("data key: %w", err)
	}
	return &dataKey{aead: aead, wrapped: wrapped}, nil
}

// context returns the KMS encryption context. The zero tenant, which represents all tenants, is written as "*", because
// the KMS documentation does not state whether empty values are accepted.
func (s *Sealer) context(tenant org.Tenant) map[string]string {
	return map[string]string{
		"mode": cmp.Or(string(tenant.Mode), "*"), "org": cmp.Or(tenant.OrgID, "*"), "purpose": s.purpose,
	}
}
