// Package vaulttest provides an in-memory vault of signing keys for tests of jws.Keyring.
package vaulttest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"testing"

	"recordbridge/shared/words/secret/jws"
)

// ErrAway is the error of a key that was made to fail.
var ErrAway = errors.New("the vault is away")

// Vault is an in-memory jws.Vault that counts requests for public keys.
type Vault struct {
	Keys map[string]crypto.Signer
	Meet func() // called for every public-key request
	Away error  // if set, the error of every call

	mu    sync.Mutex
	asked map[string]int
	fails map[string]bool
}

// fourKeys returns two RSA and two P-384 key pairs. The key pairs are created only once, because generating RSA keys is
// slow.
//
//nolint:gochecknoglobals // the cache of a function without arguments, which tests share
var fourKeys = sync.OnceValues(func() (map[string]crypto.Signer, error) {
	keys := map[string]crypto.Signer{}
	for _, slot := range []string{"1", "2"} {
		rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, err
		}
		ecKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
		if err != nil {
			return nil, err
		}
		keys["rsa"+slot], keys["ec"+slot] = rsaKey, ecKey
	}
	return keys, nil
})

// New returns a Vault with the keys rsa1, rsa2, ec1 and ec2.
func New(tb testing.TB) *Vault {
	tb.Helper()
	keys, err := fourKeys()
	if err != nil {
		tb.Fatal(err)
	}
	return &Vault{
		Keys: maps.Clone(keys), Meet: func() {}, asked: map[string]int{}, fails: map[string]bool{},
	}
}

// Public implements jws.Vault.
func (v *Vault) Public(_ context.Context, name string) (crypto.PublicKey, error) {
	v.Meet()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked[name]++
	if v.Away != nil {
		return nil, v.Away
	}
	if v.fails[name] || v.Keys[name] == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrAway)
	}
	return v.Keys[name].Public(), nil
}

// Signer implements jws.Vault.
func (v *Vault) Signer(_ context.Context, name string, _ crypto.PublicKey) crypto.Signer {
	return signer{v.Keys[name], v}
}

type signer struct {
	crypto.Signer

	vault *Vault
}

// Sign implements crypto.Signer.
func (s signer) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	if s.vault.Away != nil {
		return nil, s.vault.Away
	}
	return s.Signer.Sign(random, digest, opts)
}

// Fail makes requests for the named public key fail or succeed.
func (v *Vault) Fail(name string, fails bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fails[name] = fails
}

// Asked returns the number of requests for each public key.
func (v *Vault) Asked() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.asked)
}

// Published returns the JSON members of each key in the key ring's set.
func Published(tb testing.TB, keys *jws.Keyring, keyType string) []map[string]any {
	tb.Helper()
	set, err := keys.JWKS(tb.Context(), keyType)
	if err != nil {
		tb.Fatal(err)
	}
	document, err := json.Marshal(set)
	if err != nil {
		tb.Fatal(err)
	}
	var read struct {
		Keys []map[string]any `json:"keys"`
	}
	if err := json.Unmarshal(document, &read); err != nil || read.Keys == nil {
		tb.Fatalf("%s: %v", document, err)
	}
	return read.Keys
}
