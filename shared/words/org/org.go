// Package org owns the organisation (our customer), its mode, its credentials and their keys, and the proof that a
// redirect URI is registered. It knows no HTTP, no AWS and no connection: whoever serves a request asks it who is
// calling, and every store reaches a row through the Tenant it returns.
package org

import (
	"cmp"
	"time"

	"recordbridge/shared/words/fault"
)

// Mode separates test from live. It follows the credential and stands in front of every tenant row's key.
type Mode string

// The modes, as api_mode has them.
const (
	Test Mode = "test"
	Live Mode = "live"
)

// ParseMode reads a mode; ok is false for anything but "test" and "live".
func ParseMode(text string) (mode Mode, ok bool) {
	mode = Mode(text)
	return mode, mode == Test || mode == Live
}

// Tenant is one organisation in one mode: what every row, message, cursor and token is reached through.
type Tenant struct {
	Mode  Mode
	OrgID string // UUID
}

// Key is the tenant as it stands in front of a partition key: "<mode>#<organisation id>".
func (t Tenant) Key() string { return string(t.Mode) + "#" + t.OrgID }

// Plan decides what an organisation may use.
type Plan string

// The plans.
const (
	Free Plan = "free"
	Paid Plan = "paid"
)

// Status of an organisation.
type Status string

// The statuses. Credentials of an inactive organisation stop working.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
)

// LiveAccess is the stage of an organisation's access to live mode (docs/adr/0039-live-mode-is-granted.md).
type LiveAccess string

// The stages. An operator alone grants and withdraws.
const (
	LiveNone      LiveAccess = "none"      // not requested yet
	LiveRequested LiveAccess = "requested" // waiting for an operator
	LiveGranted   LiveAccess = "granted"
	LiveWithdrawn LiveAccess = "withdrawn" // granted once, then taken away
)

// LiveReview holds an organisation's latest request for live mode and the operator's latest decision.
type LiveReview struct {
	Purpose     string    // the organisation's own words
	RequestedBy string    // account id
	RequestedAt time.Time // zero before the first request
	Reason      string    // of a refusal or withdrawal, as the organisation reads it
	DecidedAt   time.Time // zero before the first decision
}

// Organisation is a customer, as GET /bridge/org shows it (docs/openapi.yaml, Organisation).
type Organisation struct {
	ID               string
	Name             string
	LogoURI          string
	PrivacyPolicyURI string
	WebsiteURI       string
	TermsURI         string
	Accent           string // colour of its pages, "#rrggbb" in lower case, or empty
	Plan             Plan
	Status           Status
	LiveAccess       LiveAccess
	LiveReview       LiveReview
	Emails           []string // where notices go, such as that a webhook fails; GET /bridge/org does not show them
	VerifiedEmails   []string // the Emails whose owners confirmed them
	FoundedBy        string   // id of the account that created it in the dashboard; empty if an operator did
	CreatedAt        time.Time
	Rev              int64 // compare-and-swap revision
}

// CheckMode returns fault.Forbidden (svc_live_access_required) if the organisation may not use the mode.
func (o Organisation) CheckMode(mode Mode) error {
	if mode == Test || o.LiveAccess == LiveGranted {
		return nil
	}
	return fault.New(fault.Forbidden, fault.CodeLiveAccessRequired,
		"This organisation doesn't have access to live mode. An owner can request it in the dashboard.")
}

// MailSender returns the id under which e-mails that the organisation causes are counted. Until it is approved for live
// mode, that is its founder's, so that an account gets no further budget with each organisation.
func (o Organisation) MailSender() string {
	if o.LiveAccess == LiveGranted {
		return o.ID
	}
	return cmp.Or(o.FoundedBy, o.ID)
}

// Tenants are the organisation in either mode.
func (o Organisation) Tenants() [2]Tenant {
	return [2]Tenant{{Mode: Test, OrgID: o.ID}, {Mode: Live, OrgID: o.ID}}
}

// Credential is one API key pair of a tenant: a public id, up to two live private keys, and what browsers that use
// the public id may return to.
type Credential struct {
	ID             string // the UUID inside the public id
	Tenant         Tenant
	Note           string // what its owner calls it by
	Keys           []Key
	RedirectURIs   []string // exact matches only, 1 to 25
	AllowedOrigins []string // empty: any origin may call the browser endpoints
	RevokedAt      time.Time
	CreatedAt      time.Time
	Rev            int64
}

// Key is one private key of a credential, of which only a keyed hash is stored.
type Key struct {
	ID          string
	HashVersion int    // version of the hashing key that made Hash
	Hash        []byte // HMAC-SHA256 of the private key
	CreatedAt   time.Time
	RevokedAt   time.Time // zero while the key works
}

// Caller is who a request acts for, once proven by a key or found by a public id.
type Caller struct {
	Tenant         Tenant
	CredentialID   string
	RedirectURIs   []string
	AllowedOrigins []string
}

// PublicID writes the public id of a credential.
func (c Credential) PublicID() string { return "public_" + string(c.Tenant.Mode) + "_" + c.ID }
