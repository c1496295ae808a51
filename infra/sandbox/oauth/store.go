package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Store stores codes, tokens and grants as bytes under keys of at most 80 printable ASCII characters. Keys contain
// SHA-256 hashes of codes and tokens. Neither keys nor values contain codes or tokens in plain text.
//
// A store may keep or drop expired values, because this package checks the expiry inside each value. Reads must be
// consistent with earlier writes.
type Store interface {
	// Put writes the value under key, replacing any existing value.
	Put(ctx context.Context, key string, value []byte, expires time.Time) error
	// Get returns the value stored under key. If the key does not exist, found is false.
	Get(ctx context.Context, key string) (value []byte, found bool, err error)
	// Swap atomically replaces the value under key if the current value equals old. If old is nil, Swap writes only if
	// the key does not exist. If the current value differs from old, Swap writes nothing and returns false. If several
	// identical calls run concurrently, only one returns true.
	Swap(ctx context.Context, key string, old, value []byte, expires time.Time) (swapped bool, err error)
}

// Formats of stored records. Times are in Unix seconds.
type (
	// codeRecord holds an authorization code and the person's consent.
	codeRecord struct {
		GrantID     string   `json:"grant_id"`
		ClientID    string   `json:"client_id"`
		RedirectURI string   `json:"redirect_uri"`
		Challenge   string   `json:"challenge"`
		PersonaID   string   `json:"persona_id"`
		Scopes      []string `json:"scopes"`
		ExpiresAt   int64    `json:"expires_at"`
		Used        bool     `json:"used"`
		Site        string   `json:"site,omitempty"`
		Nonce       string   `json:"nonce,omitempty"`
	}
	// grantRecord holds a person's consent. Tokens derived from the same grant form a family, and revoking the grant
	// revokes them all.
	grantRecord struct {
		ClientID  string   `json:"client_id"`
		PersonaID string   `json:"persona_id"`
		Scopes    []string `json:"scopes"`
		ExpiresAt int64    `json:"expires_at"`
		Revoked   bool     `json:"revoked"`
		Site      string   `json:"site,omitempty"`
	}
	// tokenRecord holds an access or refresh token. Only refresh tokens can be marked as used.
	tokenRecord struct {
		GrantID   string   `json:"grant_id"`
		Scopes    []string `json:"scopes"`
		IssuedAt  int64    `json:"issued_at"`
		ExpiresAt int64    `json:"expires_at"`
		Used      bool     `json:"used"`
	}
)

func codeKey(code string) string     { return "CODE#" + fingerprint(code) }
func grantKey(id string) string      { return "GRANT#" + id }
func accessKey(token string) string  { return "ACCESS#" + fingerprint(token) }
func refreshKey(token string) string { return "REFRESH#" + fingerprint(token) }

func fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(secret))

	return hex.EncodeToString(sum[:])
}

type ledger struct {
	*profile

	store  Store
	random io.Reader
}

// newSecret returns 256 random bits encoded as 43 URL-safe characters.
func (l *ledger) newSecret() (string, error) {
	raw := make([]byte, sha256.Size)
	if _, err := io.ReadFull(l.random, raw); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}

	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// load decodes the record under key into out and returns the record's raw bytes for use with swap. It returns nil if
// the key does not exist.
func (l *ledger) load(ctx context.Context, key string, out any) ([]byte, error) {
	raw, found, err := l.store.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("get record: %w", err)
	}
	if !found {
		return nil, nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("decode record: %w", err)
	}

	return raw, nil
}

func (l *ledger) save(ctx context.Context, key string, record any, expiresAt int64) error {
	raw, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	if err := l.store.Put(ctx, key, raw, time.Unix(expiresAt, 0)); err != nil {
		return fmt.Errorf("put record: %w", err)
	}

	return nil
}

// swap replaces a record if its bytes still equal old, as returned by load. It returns false if the record has changed.
func (l *ledger) swap(ctx context.Context, key string, old []byte, record any, expiresAt int64) (bool, error) {
	raw, err := json.Marshal(record)
	if err != nil {
		return false, fmt.Errorf("encode record: %w", err)
	}
	swapped, err := l.store.Swap(ctx, key, old, raw, time.Unix(expiresAt, 0))
	if err != nil {
		return false, fmt.Errorf("swap record: %w", err)
	}

	return swapped, nil
}

// liveGrant returns the grant with the given ID. It returns false if the grant is revoked, expired or unknown.
func (l *ledger) liveGrant(ctx context.Context, id string) (grantRecord, bool, error) {
	var grant grantRecord
	raw, err := l.load(ctx, grantKey(id), &grant)
	if err != nil {
		return grantRecord{}, false, err
	}

	return grant, raw != nil && !grant.Revoked && l.now().Unix() < grant.ExpiresAt, nil
}

// revokeGrant revokes a grant and all tokens derived from it. It is idempotent.
func (l *ledger) revokeGrant(ctx context.Context, id string) error {
	for {
		var grant grantRecord
		raw, err := l.load(ctx, grantKey(id), &grant)
		if err != nil {
			return err
		}
		if raw == nil || grant.Revoked {
			return nil
		}
		grant.Revoked = true
		// A grant can change only once, so if a swap fails, the next load finds the grant revoked.
		swapped, err := l.swap(ctx, grantKey(id), raw, grant, grant.ExpiresAt)
		if err != nil || swapped {
			return err
		}
	}
}
