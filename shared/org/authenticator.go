package org

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/secret"
)

// Authenticator proves callers by their private keys. It is a Directory too, for functions that know the keys' hashes.
type Authenticator struct {
	*Directory

	hashing secret.Keyring
}

// NewAuthenticator makes an Authenticator. hashing are the keys that private keys are hashed under.
func NewAuthenticator(store Store, hashing secret.Keyring, now func() time.Time) *Authenticator {
	return &Authenticator{Directory: NewDirectory(store, now), hashing: hashing}
}

// Authenticate proves a caller by public id and private key. Whatever is wrong answers alike, with fault.Unauthenticated,
// after the same work.
func (a *Authenticator) Authenticate(ctx context.Context, publicID string, privateKey secret.Text) (Caller, error) {
	mode, ok := ParsePrivateKey(privateKey.Reveal())
	if !ok {
		return Caller{}, refused(nil)
	}
	found, err := a.find(ctx, publicID)
	if err != nil && !errors.Is(err, fault.Unauthenticated) {
		return Caller{}, err
	}
	credential := found.credential
	if !a.matches(credential, privateKey) || mode != credential.Tenant.Mode {
		return Caller{}, refused(err)
	}
	return credential.caller(), nil
}

func (a *Authenticator) matches(credential Credential, privateKey secret.Text) bool {
	message := []byte(privateKey.Reveal())
	matched := false
	for _, key := range credential.Keys {
		mark := secret.Mark{Version: key.HashVersion, Sum: key.Hash}
		if a.hashing.Check(message, mark) && key.RevokedAt.IsZero() {
			matched = true
		}
	}
	if len(credential.Keys) == 0 {
		// An unknown public id costs the same hash, so that time does not tell it apart.
		a.hashing.Sign(message)
	}
	return matched
}
