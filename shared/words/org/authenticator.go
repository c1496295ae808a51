package org

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// Authenticator proves callers by their private keys. It is a Directory too, for functions that know the keys' hashes.
type Authenticator struct {
	*Directory

	hashing secret.Keyring
	keys    KeyStore
	now     func() time.Time
	uses    *cache.Cache[string, time.Time] // the hour in which a key's use was last noted, by its id
}

// KeyStore is the Store of an Authenticator.
type KeyStore interface {
	Store
	// UseKey notes that a key was used in an hour, unless that is noted already.
	UseKey(ctx context.Context, tenant Tenant, keyID string, hour time.Time) error
}

// NewAuthenticator makes an Authenticator. hashing are the keys that private keys are hashed under.
func NewAuthenticator(store KeyStore, hashing secret.Keyring, now func() time.Time) *Authenticator {
	return &Authenticator{
		Directory: NewDirectory(store, now), hashing: hashing, keys: store, now: now,
		uses: cache.New[string, time.Time](cacheSize, time.Hour, now),
	}
}

// Authenticate proves a caller by public id and private key. Whatever is wrong answers alike, with
// fault.Unauthenticated, after the same work. A live key of an organisation without live access returns
// fault.Forbidden once the key is proven.
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
	a.noteUse(ctx, credential.Tenant, keyID)
	return credential.caller(), nil
}

// useTime bounds a note of a use.
const useTime = 2 * time.Second

// noteUse notes that a key is used, once an hour. Nobody waits for it and nothing fails with it: it tells a key
// that can be revoked from one that cannot. An instance that is frozen before the note is made goes on with it,
// or another one makes it.
func (a *Authenticator) noteUse(ctx context.Context, tenant Tenant, keyID string) {
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

// match finds the live key of a credential that a private key is.
func (a *Authenticator) match(credential Credential, privateKey secret.Text) (keyID string, ok bool) {
	message := []byte(privateKey.Reveal())
	for _, key := range credential.Keys {
		mark := secret.Mark{Version: key.HashVersion, Sum: key.Hash}
		if a.hashing.Check(message, mark) && key.RevokedAt.IsZero() {
			keyID, ok = key.ID, true
		}
	}
	if len(credential.Keys) == 0 {
		// An unknown public id costs the same hash, so that time does not tell it apart.
		a.hashing.Sign(message)
	}
	return keyID, ok
}
