package clientauth

import (
	"context"
	"crypto"
	"errors"
	"fmt"
)

// Vault holds private keys and never exports them (kms.SigningKeys). Names are ARNs of KMS keys.
type Vault interface {
	// Public returns the public half of a key: an *rsa.PublicKey, or an *ecdsa.PublicKey on P-384.
	Public(ctx context.Context, name string) (crypto.PublicKey, error)
	// Signer returns the private half. It signs SHA-384 digests until ctx ends; elliptic-curve signatures are in ASN.1
	// form.
	Signer(ctx context.Context, name string, public crypto.PublicKey) crypto.Signer
}

// Keyring holds the signing keys of the service. It loads the public keys from the vault on first use and caches them
// for the life of the process; a failed call is retried on the next use. It is safe for concurrent use.
type Keyring struct {
	vault Vault
	names []string

	// locks loaded by holding a value; unlike a mutex, waiting for it respects a context
	turn chan struct{}
	// loaded holds the keys of names loaded so far, in that order.
	loaded []key
}

// key is one key pair of the vault.
type key struct {
	name   string
	public crypto.PublicKey
	jwk    jwk
}

// NewKeyring returns a Keyring of the vault's keys with these names. All of them are published. The first key of an
// algorithm signs; later keys sign only for registrations that name them. To rotate, add the new key after the old one,
// wait until every server has fetched the set, swap the two, and later remove the old one.
func NewKeyring(vault Vault, names []string) *Keyring {
	return &Keyring{vault: vault, names: names, turn: make(chan struct{}, 1)}
}

// keys returns all keys. If any key can't be loaded, the call fails, so that the choice of the signing key does not
// depend on availability.
func (k *Keyring) keys(ctx context.Context) ([]key, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("client keys: %w", context.Cause(ctx))
	}
	for len(k.loaded) < len(k.names) {
		name := k.names[len(k.loaded)]
		public, err := k.vault.Public(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("client keys: %w", err)
		}
		published, err := newJWK(public)
		if err != nil {
			return nil, fmt.Errorf("client key %s: %w", name, err)
		}
		k.loaded = append(k.loaded, key{name: name, public: public, jwk: published})
	}
	return k.loaded, nil
}

var errNoKey = errors.New("the service has no such signing key")

// find returns the key with this id, or the first one if keyID is empty, among those for an algorithm.
func (k *Keyring) find(ctx context.Context, algorithm, keyID string) (key, error) {
	all, err := k.keys(ctx)
	if err != nil {
		return key{}, err
	}
	for _, candidate := range all {
		if candidate.jwk.Algorithm == algorithm && (keyID == "" || candidate.jwk.KeyID == keyID) {
			return candidate, nil
		}
	}
	return key{}, fmt.Errorf("%w: algorithm %q, key id %q", errNoKey, algorithm, keyID)
}
