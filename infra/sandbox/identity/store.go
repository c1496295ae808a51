package identity

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"time"
)

// Types of records in the sandbox's store. The records' keys differ from the keys that package oauth uses. Times are in
// Unix seconds.
type (
	requestRecord struct {
		Query     url.Values `json:"query"`
		ExpiresAt int64      `json:"expires_at"`
	}
	// codeRecord holds the selected patient until the client exchanges the code.
	codeRecord struct {
		ClientID    string `json:"client_id"`
		RedirectURI string `json:"redirect_uri"`
		Challenge   string `json:"challenge"`
		Nonce       string `json:"nonce"`
		Subject     string `json:"subject"`
		Shape       string `json:"shape"`
		Fault       string `json:"fault"`
		ExpiresAt   int64  `json:"expires_at"`
		Used        bool   `json:"used"`
	}
)

func requestKey(reference string) string { return "IDREQUEST#" + fingerprint(reference) }
func codeKey(code string) string         { return "IDCODE#" + fingerprint(code) }

func fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(secret))

	return hex.EncodeToString(sum[:])
}

// newSecret returns 256 random bits, encoded as 43 URL-safe characters.
func (s *Server) newSecret() (string, error) {
	raw := make([]byte, sha256.Size)
	if _, err := io.ReadFull(s.Random, raw); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}

	return base64.RawURLEncoding.EncodeToString(raw), nil
}

func (s *Server) put(ctx context.Context, key string, record any, expiresAt int64) error {
	raw, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}

	return s.Store.Put(ctx, key, raw, time.Unix(expiresAt, 0))
}

// get decodes the record stored under key into out and returns its encoded form, or nil if the record does not exist.
func (s *Server) get(ctx context.Context, key string, out any) ([]byte, error) {
	raw, found, err := s.Store.Get(ctx, key)
	if err != nil || !found {
		return nil, err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("decode record: %w", err)
	}

	return raw, nil
}

// use marks an authorization code as used. It returns false if another request has already used the code.
func (s *Server) use(ctx context.Context, key string, old []byte, code codeRecord) (bool, error) {
	code.Used = true
	raw, err := json.Marshal(code)
	if err != nil {
		return false, fmt.Errorf("encode record: %w", err)
	}

	return s.Store.Swap(ctx, key, old, raw, time.Unix(code.ExpiresAt, 0))
}
