package dashboardcredentials

import (
	"time"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

type credentialList struct {
	Credentials []credential `json:"credentials"`
}

// credential represents an API key pair, without any secrets.
type credential struct {
	httpapi.Versioned

	PublicID       string   `json:"public_id"`
	Note           string   `json:"note"`
	RedirectURIs   []string `json:"redirect_uris"`
	AllowedOrigins []string `json:"allowed_origins"` // if empty, any origin is allowed
	Keys           []key    `json:"keys"`            // oldest first
	CreatedAt      string   `json:"created_at"`      // RFC 3339 time
}

type key struct {
	KeyID      string `json:"key_id"`
	CreatedAt  string `json:"created_at"`             // RFC 3339 time
	RevokedAt  string `json:"revoked_at,omitempty"`   // RFC 3339; omitted while the key is valid
	LastUsedAt string `json:"last_used_at,omitempty"` // RFC 3339, to the hour; omitted if never used
}

// newCredential is the only response that contains a credential's first private key. newKey is the only one that
// contains an additional private key.
type newCredential struct {
	Credential credential `json:"credential"`
	KeyID      string     `json:"key_id"`
	PrivateKey string     `json:"private_key"`
}

type newKey struct {
	KeyID      string `json:"key_id"`
	PrivateKey string `json:"private_key"`
}

func credentialOf(c org.Credential, uses map[string]time.Time) credential {
	shown := credential{
		Versioned: httpapi.Versioned{Version: c.Version()},
		PublicID:  c.PublicID(), Note: c.Note, RedirectURIs: append([]string{}, c.RedirectURIs...),
		AllowedOrigins: append([]string{}, c.AllowedOrigins...),
		Keys:           make([]key, 0, len(c.Keys)), CreatedAt: timestamp.Of(c.CreatedAt),
	}
	for _, k := range c.Keys {
		shown.Keys = append(shown.Keys, key{
			KeyID: k.ID, CreatedAt: timestamp.Of(k.CreatedAt), RevokedAt: timestamp.Of(k.RevokedAt),
			LastUsedAt: timestamp.Of(uses[k.ID]),
		})
	}
	return shown
}
