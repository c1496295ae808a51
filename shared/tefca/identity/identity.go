// Package identity owns who may say who a patient of TEFCA mode is, and what of it is believed (docs/operate/tefca.md,
// "Checks of an id_token"): the identity providers that an operator has configured, the checks of their
// id_tokens, what is read from the claims, and why a verification fails. It is pure; package oidc speaks to the
// providers.
package identity

import (
	"cmp"
	"time"

	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// CallbackPath is where providers return, behind the base URL; what follows it names the provider.
const CallbackPath = "/bridge/tefca/identity/callback"

// What the simulated provider (infra/sandbox/identity) knows us by.
const (
	SimulatedClient   = "recordbridge-identity"
	SimulatedAudience = "urn:oid:2.999.1" // our home community, in the arc that is for examples (ITU-T X.660)
)

// Provider is an identity provider (a credential service provider in TEFCA's words) as an operator has
// configured it. It is trusted by contract: nothing else than this says which issuer is believed, for which
// audience, and how it states a level.
type Provider struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"` // as patients are shown it
	Mode     org.Mode `json:"mode"`
	Issuer   string   `json:"issuer"`
	ClientID string   `json:"client_id"`
	// of a catalog.ClientAuth of everybody's; empty for a public client
	ClientAuthID string `json:"client_authentication,omitempty"`
	// that tokens for us may name: our home community id, as urn:oid:, or the client id
	Audiences []string  `json:"audiences"`
	Scope     string    `json:"scope"`
	ACRValues string    `json:"acr_values,omitempty"` // asked for, in the order of preference, space-separated
	MaxAge    int       `json:"max_age,omitempty"`    // seconds; defaultMaxAge where it is 0
	Assurance Assurance `json:"assurance"`
}

// Assurance is how a provider's tokens say the identity assurance level (NIST SP 800-63A). A level that
// verified_claims or the claim state always counts, and of several the lowest; the other members say what has the
// meaning of level 2 besides.
type Assurance struct {
	Claim      string   `json:"claim,omitempty"`      // that holds the level; identity_assurance_level where empty
	ACR        []string `json:"acr,omitempty"`        // values of acr
	Frameworks []string `json:"frameworks,omitempty"` // trust frameworks of verified_claims
	// Implied says that by contract every token is of level 2, also one that states none, as those of the
	// RCE's own example do not.
	Implied bool `json:"implied,omitempty"`
	// Contacts says that by contract no token has an e-mail address or a telephone number that is not verified, so that
	// none needs to say it (RCE, SOP "Exchange Purpose Implementation: Individual Access Services" v3.0, 4.9 a).
	Contacts bool `json:"contacts,omitempty"`
}

// Simulated is the provider that vouches for the synthetic patients, of the sandbox behind a base URL of ours.
func Simulated(baseURL string) Provider {
	return Provider{
		ID: "simulated", Name: "Example Identity (simulated)", Mode: org.Test, Issuer: baseURL + "/sandbox" + people.Issuer,
		ClientID: SimulatedClient, Audiences: []string{SimulatedAudience}, Scope: "openid profile address email phone",
		Assurance: Assurance{Implied: true},
	}
}

// Callback is our redirect URI at the provider, an address of its own (RFC 9700 section 4.4.2).
func (p Provider) Callback(baseURL string) string { return baseURL + CallbackPath + "/" + p.ID }

// defaultMaxAge is for how many seconds before the browser leaves for a provider a sign-in there counts as the
// patient's own. Devices are shared: the session of who was there before would vouch for who comes next.
const defaultMaxAge = 300

// MaximumAge is the max_age of requests to the provider, in seconds (OpenID Connect Core 1.0 section 3.1.2.1).
func (p Provider) MaximumAge() int { return cmp.Or(p.MaxAge, defaultMaxAge) }

// Request is what a browser leaves for a provider with.
type Request struct {
	RedirectURI string
	State       string
	Nonce       string
	Challenge   string // PKCE, S256
}

// Authority is what is pinned of a provider when the browser leaves, so that nothing that a browser brings back can
// choose where the code goes, or whose keys are believed (RFC 9700 section 4.4). It holds no secret.
type Authority struct {
	Provider      Provider  `json:"provider"`
	RedirectURI   string    `json:"redirect_uri"`
	TokenEndpoint string    `json:"token_endpoint"`
	KeySet        string    `json:"jwks_uri"`
	IssRequired   bool      `json:"iss_required"` // the return must carry iss (RFC 9207)
	AskedAt       time.Time `json:"asked_at"`     // when the browser left: what max_age counts back from
}

// Return is what comes back from a provider, with what the attempt has kept for it.
type Return struct {
	Provider string // whose callback address it was brought to

	Code   secret.Text
	Issuer string // iss (RFC 9207), or empty
	Error  string // of RFC 6749 section 4.1.2.1, or empty

	Verifier  secret.Text // PKCE
	NonceHash string      // binding.Hash of the nonce that the id_token must repeat
}

// Check refuses a return that is not this provider's, and one without a code. What comes back at a provider's own
// callback address was meant for no other (RFC 9700 section 4.4.2), also where a provider does not name itself.
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
