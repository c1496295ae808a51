package clientauth

import (
	"context"
	"crypto"
	"errors"
	"fmt"
)

// Vault holds private keys and never gives them away (kms.SigningKeys). Names are ARNs of KMS keys.
type Vault interface {
	// Public returns the public half of a key: *rsa.PublicKey, or *ecdsa.PublicKey on P-384.
	Public(ctx context.Context, name string) (crypto.PublicKey, error)
	// Signer returns the private half. It signs digests of SHA-384 while ctx lives, elliptic ones in ASN.1 form.
	Signer(ctx context.Context, name string, public crypto.PublicKey) crypto.Signer
}

// Keyring holds the signing keys of the service. It asks the vault for the public halves when it first needs
// them and keeps them for the life of the process; a call that failed is made again the next time. It is
// safe for concurrent use.
type Keyring struct {
	vault Vault
	names []string

	// holds a value while somebody works on loaded: unlike for a mutex, waiting for it ends with a context
	turn chan struct{}
	// loaded are the keys of names, in that order, as far as they are known.
	loaded []key
}

// key is one key pair of the vault.
type key struct {
	name   string
	public crypto.PublicKey
	jwk    jwk
}

// NewKeyring makes a Keyring of the vault's keys of these names. All are published; the first of an algorithm signs,
// and those behind it sign only for registrations that name them. To rotate, put the new key behind the old one, wait
// until every server has fetched the set, swap the two, and later leave the old one out.
func NewKeyring(vault Vault, names []string) *Keyring {
	return &Keyring{vault: vault, names: names, turn: make(chan struct{}, 1)}
}

// keys returns all keys. One that cannot be loaded fails the call: what signs must not depend on
// which key answers today.
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

// find returns the key with this id, or with an empty keyID the first one, among those for an algorithm.
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
