package jws

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
)

// Vault holds private keys and never exports them (kms.SigningKeys). Keys are identified by their KMS ARN.
type Vault interface {
	// Public returns a key pair's public key: an *rsa.PublicKey, or an *ecdsa.PublicKey on P-384.
	Public(ctx context.Context, name string) (crypto.PublicKey, error)
	// Signer returns a signer that uses the private key. The signer signs SHA-384 digests until ctx ends.
	// Elliptic-curve signatures are ASN.1-encoded.
	Signer(ctx context.Context, name string, public crypto.PublicKey) crypto.Signer
}

// Keyring holds signing keys and publishes their public keys. Keyring loads the public keys from the vault on first use
// and caches them for the life of the process. If loading fails, the next use retries it. Keyring is safe for
// concurrent use.
type Keyring struct {
	vault  Vault
	names  []string
	former []string

	// guards loaded; a channel, because waiting for a mutex can't be cancelled
	turn chan struct{}
	// loaded holds the keys loaded so far, in the same order as names.
	loaded []key
}

type key struct {
	name   string
	public crypto.PublicKey
	jwk    publicJWK
}

// NewKeyring returns a Keyring of the vault's keys with these names. The Keyring publishes all of these keys. The first
// key for an algorithm signs by default. A later key signs only for registrations that specify it. To rotate a key, add
// the new key after the old key, wait until every server has fetched the set, and swap the two keys. Remove the old key
// some time after the swap.
//
// former holds the public keys of former keys, which the Keyring publishes but can't sign with. Each is the base64
// encoding of the key's SubjectPublicKeyInfo, as KMS returns it.
func NewKeyring(vault Vault, names []string, former ...string) *Keyring {
	return &Keyring{vault: vault, names: names, former: former, turn: make(chan struct{}, 1)}
}

var errNoKey = errors.New("the service has no such signing key")

// Signer returns the ID and the signer of the algorithm's key with the given ID, or of the algorithm's first key if
// keyID is empty. The signer can be used until ctx ends.
func (k *Keyring) Signer(ctx context.Context, algorithm, keyID string) (id string, signer crypto.Signer, err error) {
	all, err := k.keys(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, candidate := range all {
		if candidate.jwk.Algorithm == algorithm && (keyID == "" || candidate.jwk.KeyID == keyID) {
			return candidate.jwk.KeyID, k.vault.Signer(ctx, candidate.name, candidate.public), nil
		}
	}
	return "", nil, fmt.Errorf("%w: algorithm %q, key id %q", errNoKey, algorithm, keyID)
}

// keys returns all keys, or an error if any key can't be loaded. Because keys fails as a whole, the choice of signing
// key doesn't depend on the vault's availability.
func (k *Keyring) keys(ctx context.Context) ([]key, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("signing keys: %w", context.Cause(ctx))
	}
	for len(k.loaded) < len(k.names) {
		name := k.names[len(k.loaded)]
		public, err := k.vault.Public(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("signing keys: %w", err)
		}
		published, err := newJWK(public)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", name, err)
		}
		k.loaded = append(k.loaded, key{name: name, public: public, jwk: published})
	}
	return k.loaded, nil
}

// withFormer returns the keys and those former keys that are not among them.
func (k *Keyring) withFormer(all []key) ([]key, error) {
	all = slices.Clone(all)
	for _, text := range k.former {
		der, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("former signing key: %w", err)
		}
		public, err := x509.ParsePKIXPublicKey(der)
		if err != nil {
			return nil, fmt.Errorf("former signing key: %w", err)
		}
		published, err := newJWK(public)
		if err != nil {
			return nil, fmt.Errorf("former signing key: %w", err)
		}
		if !slices.ContainsFunc(all, func(other key) bool { return other.jwk.KeyID == published.KeyID }) {
			all = append(all, key{jwk: published})
		}
	}
	return all, nil
}
