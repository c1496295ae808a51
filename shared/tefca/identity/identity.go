// Package identity verifies patients' identities in TEFCA mode (docs/operate/tefca.md, "Checks of an id_token"). The
// package defines the configuration of identity providers, verifies id_tokens, reads their claims and lists the causes
// of failed verifications. The package performs no I/O; package oidc communicates with providers.
package identity

import (
	"cmp"
	"time"

	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// CallbackPath is the callback URL's path, relative to the base URL. The provider's ID is appended to this path.
const CallbackPath = "/bridge/tefca/identity/callback"

// The service's identifiers at the simulated identity provider (infra/sandbox/identity).
const (
	SimulatedClient   = "recordbridge-identity"
	SimulatedAudience = "urn:oid:2.999.1" // home community ID in the arc reserved for examples (ITU-T X.660)
)

// Provider is an operator's configuration of an identity provider, which TEFCA calls a credential service provider.
// Only the configuration determines the trusted issuer, the audience, and the meaning of assurance levels.
type Provider struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"` // displayed to patients
	Mode     org.Mode `json:"mode"`
	Issuer   string   `json:"issuer"`
	ClientID string   `json:"client_id"`
	// ClientAuthID is the ID of a shared catalog.ClientAuth, or empty for a public client.
	ClientAuthID string `json:"client_authentication,omitempty"`
	// Audiences lists the accepted audiences of tokens. An audience is either the home community ID with the prefix
	// urn:oid: or the client ID.
	Audiences []string  `json:"audiences"`
	Scope     string    `json:"scope"`
	ACRValues string    `json:"acr_values,omitempty"` // requested acr values, space-separated, in order of preference
	MaxAge    int       `json:"max_age,omitempty"`    // seconds; 0 means defaultMaxAge
	Assurance Assurance `json:"assurance"`
}

// Assurance describes how a provider's tokens state the identity assurance level (NIST SP 800-63A). Levels stated in
// verified_claims or in Claim always count, and the lowest one applies. The other fields list claim values that
// indicate level 2.
type Assurance struct {
	Claim      string   `json:"claim,omitempty"`      // claim that states the level; default: identity_assurance_level
	ACR        []string `json:"acr,omitempty"`        // acr values that indicate level 2
	Frameworks []string `json:"frameworks,omitempty"` // trust frameworks in verified_claims that indicate level 2
	// Implied means that every token has level 2 by contract, even if it states no level, as in the RCE's own example.
	Implied bool `json:"implied,omitempty"`
	// Contacts means that all email addresses and telephone numbers in a token are verified by contract, even if the
	// token does not say so (RCE, SOP "Exchange Purpose Implementation: Individual Access Services" v3.0, 4.9 a).
	Contacts bool `json:"contacts,omitempty"`
}

// Simulated returns the sandbox's identity provider for synthetic patients, at a URL below baseURL.
func Simulated(baseURL string) Provider {
	return Provider{
		ID: "simulated", Name: "Example Identity (simulated)", Mode: org.Test, Issuer: baseURL + "/sandbox" + people.Issuer,
		ClientID: SimulatedClient, Audiences: []string{SimulatedAudience}, Scope: "openid profile address email phone",
		Assurance: Assurance{Implied: true},
	}
}

// Callback returns the redirect URI for the provider. Each provider has its own redirect URI (RFC 9700 section 4.4.2).
func (p Provider) Callback(baseURL string) string { return baseURL + CallbackPath + "/" + p.ID }

// defaultMaxAge is the default for MaximumAge, in seconds. On a shared device, an older session at the identity
// provider might belong to the previous user.
const defaultMaxAge = 300

// MaximumAge returns max_age, the maximum age in seconds of the person's sign-in at the provider (OpenID Connect Core
// 1.0 section 3.1.2.1).
func (p Provider) MaximumAge() int { return cmp.Or(p.MaxAge, defaultMaxAge) }

// Request holds the parameters of an authorization request to a provider.
type Request struct {
	RedirectURI string
	State       string
	Nonce       string
	Challenge   string // PKCE challenge (S256)
}

// Authority holds the provider's data that was pinned before the redirect, so that a response can't choose the token
// endpoint or the trusted keys (RFC 9700 section 4.4). It contains no secrets.
type Authority struct {
	Provider      Provider  `json:"provider"`
	RedirectURI   string    `json:"redirect_uri"`
	TokenEndpoint string    `json:"token_endpoint"`
	KeySet        string    `json:"jwks_uri"`
	IssRequired   bool      `json:"iss_required"` // whether the response must contain iss (RFC 9207)
	AskedAt       time.Time `json:"asked_at"`     // time of the redirect, which is the reference for max_age
}

// Return holds the parameters of a provider's redirect to the service, and the data that the attempt stored for it.
type Return struct {
	Provider string // provider named in the callback URL

	Code   secret.Text
	Issuer string // iss (RFC 9207); may be empty
	Error  string // error code of RFC 6749 section 4.1.2.1; may be empty

	Verifier  secret.Text // PKCE verifier
	NonceHash string      // binding.Hash of the nonce that must appear in the id_token
}

// Check rejects a redirect that has no code or comes from a different provider. The callback URL identifies the
// provider even without the iss parameter (RFC 9700 section 4.4.2).
func (a Authority) Check(r Return) error {
	switch {
	case r.Provider != a.Provider.ID, r.Issuer != "" && r.Issuer != a.Provider.Issuer, r.Issuer == "" && a.IssRequired:
		return failed(causeIssuer, nil)
	case r.Error != "":
		return Refused(r.Error, nil)
	case r.Code.Empty():
		return failed(causeNoCode, nil)
	}
	return nil
}
