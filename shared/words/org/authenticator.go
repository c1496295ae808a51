package org

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// Authenticator authenticates callers by their private keys. It also serves as a Directory for functions that hold the
// hashing keys.
type Authenticator struct {
	*Directory

	hashing secret.Keyring
	keys    KeyStore
	now     func() time.Time
	uses    *cache.Cache[string, time.Time] // the hour of each key's last recorded use, by key id
}

// KeyStore is the store that an Authenticator needs.
type KeyStore interface {
	Store
	// UseKey records that a key was used in an hour, unless that is already recorded.
	UseKey(ctx context.Context, tenant Tenant, keyID string, hour time.Time) error
}

// NewAuthenticator returns an Authenticator. hashing holds the keys that private keys are hashed with.
func NewAuthenticator(store KeyStore, hashing secret.Keyring, now func() time.Time) *Authenticator {
	return &Authenticator{
		Directory: NewDirectory(store, now), hashing: hashing, keys: store, now: now,
		uses: cache.New[string, time.Time](cacheSize, time.Hour, now),
	}
}

// Authenticate authenticates a caller by public id and private key. All mistakes return the same error,
// fault.Unauthenticated, after the same amount of work. If the organisation has no live access, a valid live key
// returns fault.Forbidden.
func (a *Authenticator) Authenticate(ctx context.Context, publicID string, privateKey secret.Text) (Caller, error) {
	mode, ok := ParsePrivateKey(privateKey.Reveal())
	if !ok {
		return Caller{}, refused(nil)
	}
	found, err := a.find(ctx, publicID)
	if err != nil && !errors.Is(err, fault.Unauthenticated) && !errors.Is(err, fault.Forbidden) {
		return Caller{}, err
	}
	credential := found.credential
	keyID, ok := a.match(credential, privateKey)
	if !ok || mode != credential.Tenant.Mode {
		return Caller{}, refused(err)
	}
	if err != nil {
		return Caller{}, err
	}
	a.recordUse(ctx, credential.Tenant, keyID)
	return credential.caller(), nil
}

// useTime limits the time for recording a key's use.
const useTime = 2 * time.Second

// recordUse records once an hour that a key is in use, so that unused keys can be recognised and revoked. It runs in
// the background and its errors are ignored. An instance that is frozen before the write either continues it later or
// another instance makes it.
func (a *Authenticator) recordUse(ctx context.Context, tenant Tenant, keyID string) {
	hour := a.now().UTC().Truncate(time.Hour)
	if noted, _ := a.uses.Get(keyID); noted.Equal(hour) {
		return
	}
	a.uses.Put(keyID, hour)
	go func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), useTime)
		defer cancel()
		_ = a.keys.UseKey(bounded, tenant, keyID, hour)
	}()
}

// match returns the id of the credential's live key that matches privateKey.
func (a *Authenticator) match(credential Credential, privateKey secret.Text) (keyID string, ok bool) {
	message := []byte(privateKey.Reveal())
	for _, key := range credential.Keys {
		mark := secret.Mark{Version: key.HashVersion, Sum: key.Hash}
		if a.hashing.Check(message, mark) && key.RevokedAt.IsZero() {
			keyID, ok = key.ID, true
		}
	}
	if len(credential.Keys) == 0 {
		// An unknown public id costs the same hash, so that timing does not reveal it.
		a.hashing.Sign(message)
	}
	return keyID, ok
}
