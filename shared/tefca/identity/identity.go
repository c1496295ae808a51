// Package identity decides which statements about the identity of a patient in TEFCA mode are trusted
// (docs/operate/tefca.md, "Checks of an id_token"): the identity providers that an operator has configured,
// the checks of their id_tokens, the claims that are read, and the causes of a failed verification. It does no I/O;
// package oidc talks to the providers.
package identity

import (
	"cmp"
	"time"

	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// CallbackPath is the path of the callback URL below the base URL; it is followed by the provider's id.
const CallbackPath = "/bridge/tefca/identity/callback"

// The service's identifiers at the simulated provider (infra/sandbox/identity).
const (
	SimulatedClient   = "recordbridge-identity"
	SimulatedAudience = "urn:oid:2.999.1" // home community id in the arc for examples (ITU-T X.660)
)

// Provider is an identity provider (a credential service provider in TEFCA's terms), as configured by an operator. It
// is trusted by contract. This configuration alone determines the trusted issuer, the audience, and the meaning of its
// levels.
type Provider struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"` // as shown to patients
	Mode     org.Mode `json:"mode"`
	Issuer   string   `json:"issuer"`
	ClientID string   `json:"client_id"`
	// id of a shared catalog.ClientAuth; empty for a public client
	ClientAuthID string `json:"client_authentication,omitempty"`
	// accepted audiences of tokens: the home community id, as urn:oid:, or the client id
	Audiences []string  `json:"audiences"`
	Scope     string    `json:"scope"`
	ACRValues string    `json:"acr_values,omitempty"` // requested values in order of preference, space-separated
	MaxAge    int       `json:"max_age,omitempty"`    // seconds; 0 means defaultMaxAge
	Assurance Assurance `json:"assurance"`
}

// Assurance describes how a provider's tokens state the identity assurance level (NIST SP 800-63A). A level stated in
// verified_claims or the claim always counts, and the lowest if there are several. The other fields list further
// statements that mean level 2.
type Assurance struct {
	Claim      string   `json:"claim,omitempty"`      // name of the level's claim; default identity_assurance_level
	ACR        []string `json:"acr,omitempty"`        // values of acr
	Frameworks []string `json:"frameworks,omitempty"` // trust frameworks of verified_claims
	// Implied means that by contract every token has level 2, even if it states none, as in the RCE's own example.
	Implied bool `json:"implied,omitempty"`
	// Contacts means that by contract every e-mail address and telephone number in a token is verified, so that the token
	// need not state it (RCE, SOP "Exchange Purpose Implementation: Individual Access Services" v3.0, 4.9 a).
	Contacts bool `json:"contacts,omitempty"`
}

// Simulated returns the provider of the synthetic patients, in the sandbox below a base URL of this service.
func Simulated(baseURL string) Provider {
	return Provider{
		ID: "simulated", Name: "Example Identity (simulated)", Mode: org.Test, Issuer: baseURL + "/sandbox" + people.Issuer,
		ClientID: SimulatedClient, Audiences: []string{SimulatedAudience}, Scope: "openid profile address email phone",
		Assurance: Assurance{Implied: true},
	}
}

// Callback returns the redirect URI for the provider. Each provider has its own (RFC 9700 section 4.4.2).
func (p Provider) Callback(baseURL string) string { return baseURL + CallbackPath + "/" + p.ID }

// defaultMaxAge is the maximum age in seconds of a sign-in at a provider when the browser leaves for it. Devices are
// shared, so an older session could belong to the previous user.
const defaultMaxAge = 300

// MaximumAge returns the max_age of requests to the provider, in seconds (OpenID Connect Core 1.0 section 3.1.2.1).
func (p Provider) MaximumAge() int { return cmp.Or(p.MaxAge, defaultMaxAge) }

// Request holds the parameters of a browser's request to a provider.
type Request struct {
	RedirectURI string
	State       string
	Nonce       string
	Challenge   string // PKCE, S256
}

// Authority holds a provider's data as pinned when the browser leaves, so that the browser's return cannot choose the
// token endpoint or the trusted keys (RFC 9700 section 4.4). It holds no secret.
type Authority struct {
	Provider      Provider  `json:"provider"`
	RedirectURI   string    `json:"redirect_uri"`
	TokenEndpoint string    `json:"token_endpoint"`
	KeySet        string    `json:"jwks_uri"`
	IssRequired   bool      `json:"iss_required"` // the return must carry iss (RFC 9207)
	AskedAt       time.Time `json:"asked_at"`     // when the browser left; max_age counts back from here
}

// Return holds a provider's redirect parameters and the data that the attempt has stored for it.
type Return struct {
	Provider string // the provider in the callback URL

	Code   secret.Text
	Issuer string // iss (RFC 9207), or empty
	Error  string // of RFC 6749 section 4.1.2.1, or empty

	Verifier  secret.Text // PKCE
	NonceHash string      // binding.Hash of the nonce that the id_token must repeat
}

// Check refuses a return that is not from this provider, or that has no code. Each provider has its own callback URL,
// so a return is attributed to its provider (RFC 9700 section 4.4.2) even if it has no iss.
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
