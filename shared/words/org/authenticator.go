package org

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/cache"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

// Authenticator authenticates callers by their private keys. In functions that hold the hashing keys, the Authenticator
// also serves as the Directory.
type Authenticator struct {
	*Directory

	hashing secret.Keyring
	keys    KeyStore
	now     func() time.Time
	uses    *cache.Cache[string, time.Time] // hour of each key's last recorded use, by key ID
}

// KeyStore is the storage that an Authenticator needs.
type KeyStore interface {
	Store
	// UseKey records that a key was used in the given hour. UseKey does nothing if the use is already recorded.
	UseKey(ctx context.Context, tenant Tenant, keyID string, hour time.Time) error
}

// NewAuthenticator returns an Authenticator. hashing holds the keys used to hash private keys.
func NewAuthenticator(store KeyStore, hashing secret.Keyring, now func() time.Time) *Authenticator {
	return &Authenticator{
		Directory: NewDirectory(store, now), hashing: hashing, keys: store, now: now,
		uses: cache.New[string, time.Time](cacheSize, time.Hour, now),
	}
}

// Authenticate authenticates a caller by public ID and private key. All failures do the same amount of work and return
// the same error, fault.Unauthenticated. If a valid live key belongs to an organisation without live access,
// Authenticate returns fault.Forbidden instead.
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

// useTime is the time limit for recording that a key was used.
const useTime = 2 * time.Second

// recordUse records, at most once an hour, that a key is in use, so that operators can find and revoke unused keys. It
// runs in the background and ignores errors. If the instance is frozen before the write, it completes the write later
// or another instance records the key's use.
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

// match returns the ID of the credential's active key that matches privateKey.
func (a *Authenticator) match(credential Credential, privateKey secret.Text) (keyID string, ok bool) {
	message := []byte(privateKey.Reveal())
	for _, key := range credential.Keys {
		mark := secret.Mark{Version: key.HashVersion, Sum: key.Hash}
		if a.hashing.Check(message, mark) && key.RevokedAt.IsZero() {
			keyID, ok = key.ID, true
		}
	}
	if len(credential.Keys) == 0 {
		// Compute a hash even for an unknown public ID, so that the timing doesn't reveal which public IDs exist.
		a.hashing.Sign(message)
	}
	return keyID, ok
}
