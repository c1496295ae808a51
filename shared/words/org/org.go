// Package org owns the organisation (the service's customer), its mode, its credentials and their keys, and the check
// that a redirect URI is registered. It is independent of HTTP, AWS and connections. Request handlers use it to
// identify the caller, and every store reaches rows through the Tenant that it returns.
package org

import (
	"cmp"
	"time"

	"recordbridge/shared/words/fault"
)

// Mode separates test from live. The credential determines it, and it is the first part of every tenant row's key.
type Mode string

// The modes, spelled as in api_mode.
const (
	Test Mode = "test"
	Live Mode = "live"
)

// ParseMode parses a mode; ok is false for anything except "test" and "live".
func ParseMode(text string) (mode Mode, ok bool) {
	mode = Mode(text)
	return mode, mode == Test || mode == Live
}

// Tenant is one organisation in one mode. Every row, message, cursor and token is reached through it.
type Tenant struct {
	Mode  Mode
	OrgID string // UUID
}

// Key returns the tenant's prefix of partition keys: "<mode>#<organisation id>".
func (t Tenant) Key() string { return string(t.Mode) + "#" + t.OrgID }

// Plan determines the features that an organisation may use.
type Plan string

// The plans.
const (
	Free Plan = "free"
	Paid Plan = "paid"
)

// Status is an organisation's status.
type Status string

// The statuses. Credentials of an inactive organisation stop working.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
)

// LiveAccess is the stage of an organisation's access to live mode (docs/adr/0039-live-mode-is-granted.md).
type LiveAccess string

// The stages. Only an operator grants and withdraws access.
const (
	LiveNone      LiveAccess = "none"      // not requested yet
	LiveRequested LiveAccess = "requested" // waiting for an operator
	LiveGranted   LiveAccess = "granted"
	LiveWithdrawn LiveAccess = "withdrawn" // granted once, then revoked
)

// LiveReview holds an organisation's latest request for live mode and the operator's latest decision.
type LiveReview struct {
	Purpose     string    // in the organisation's own words
	RequestedBy string    // account id
	RequestedAt time.Time // zero before the first request
	Reason      string    // reason of a refusal or withdrawal, shown to the organisation
	DecidedAt   time.Time // zero before the first decision
}

// Organisation is a customer, as returned by GET /bridge/org (docs/openapi.yaml, Organisation).
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
	Emails           []string // recipients of notices, such as webhook failures; not in GET /bridge/org
	VerifiedEmails   []string // those of Emails that are confirmed
	FoundedBy        string   // account that created it in the dashboard; empty if an operator did
	CreatedAt        time.Time
	Rev              int64 // compare-and-swap revision
}

// CheckMode returns fault.Forbidden (svc_live_access_required) if the organisation may not use the mode.
func (o Organisation) CheckMode(mode Mode) error {
	if mode == Test || o.LiveAccess == LiveGranted {
		return nil
	}
	return fault.New(fault.Forbidden, fault.CodeLiveAccessRequired,
		"This organisation does not have access to live mode. An owner can request it in the dashboard.")
}

// MailSender returns the id that the organisation's e-mails count against. Before approval for live mode that is its
// founder's id, so that an account gets no extra budget by creating organisations.
func (o Organisation) MailSender() string {
	if o.LiveAccess == LiveGranted {
		return o.ID
	}
	return cmp.Or(o.FoundedBy, o.ID)
}

// Tenants returns the organisation's tenants, one for each mode.
func (o Organisation) Tenants() [2]Tenant {
	return [2]Tenant{{Mode: Test, OrgID: o.ID}, {Mode: Live, OrgID: o.ID}}
}

// Credential is one API key pair of a tenant: a public id, up to two live private keys, and the redirect URIs and
// origins allowed with the public id.
type Credential struct {
	ID             string // the UUID inside the public id
	Tenant         Tenant
	Note           string // label chosen by its owner
	Keys           []Key
	RedirectURIs   []string // matched exactly; 1 to 25
	AllowedOrigins []string // empty: any origin may call the browser endpoints
	RevokedAt      time.Time
	CreatedAt      time.Time
	Rev            int64
}

// Key is one private key of a credential. Only a keyed hash of it is stored.
type Key struct {
	ID          string
	HashVersion int    // version of the hashing key used for Hash
	Hash        []byte // HMAC-SHA256 of the private key
	CreatedAt   time.Time
	RevokedAt   time.Time // zero while the key is valid
}

// Caller is the organisation and credential that a request acts for, identified by a private key or a public id.
type Caller struct {
	Tenant         Tenant
	CredentialID   string
	RedirectURIs   []string
	AllowedOrigins []string
}

// PublicID returns the public id of a credential.
func (c Credential) PublicID() string { return "public_" + string(c.Tenant.Mode) + "_" + c.ID }
