// Package org defines organisations (the service's customers), their modes, their credentials and keys, and the check
// that a redirect URI is registered. Request handlers use the package to identify the caller. Every store derives its
// row keys from a Tenant.
package org

import (
	"cmp"
	"strconv"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/version"
)

// Mode separates test data from live data. A request's credential determines the mode. The keys of all tenants' rows
// begin with the mode.
type Mode string

// Modes, as written in api_mode.
const (
	Test Mode = "test"
	Live Mode = "live"
)

// ParseMode parses a mode. ok is false for any text except "test" and "live".
func ParseMode(text string) (mode Mode, ok bool) {
	mode = Mode(text)
	return mode, mode == Test || mode == Live
}

// Tenant identifies an organisation in one mode. Every row, message, cursor and token belongs to a tenant.
type Tenant struct {
	Mode  Mode
	OrgID string // UUID
}

// Key returns the tenant's partition key prefix: "<mode>#<organisation id>".
func (t Tenant) Key() string { return string(t.Mode) + "#" + t.OrgID }

// Plan determines the features available to an organisation.
type Plan string

// Plans that an organisation can have.
const (
	Free Plan = "free"
	Paid Plan = "paid"
)

// Status is the status of an organisation.
type Status string

// Statuses that an organisation can have. An inactive organisation's credentials do not work.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
)

// LiveAccess is the stage of an organisation's access to live mode (docs/adr/0039-live-mode-is-granted.md).
type LiveAccess string

// Stages of live access. Only an operator can grant or withdraw access.
const (
	LiveNone      LiveAccess = "none"      // live access was never requested
	LiveRequested LiveAccess = "requested" // awaiting an operator's decision
	LiveGranted   LiveAccess = "granted"
	LiveWithdrawn LiveAccess = "withdrawn" // access was granted and later withdrawn
)

// LiveReview holds an organisation's latest request for live access and the operator's latest decision.
type LiveReview struct {
	Purpose     string    // purpose as written by the organisation
	RequestedBy string    // account ID
	RequestedAt time.Time // zero before the first request
	Reason      string    // reason for a refusal or withdrawal, shown to the organisation
	DecidedAt   time.Time // zero before the first decision
}

// Organisation is a customer of the service. GET /bridge/org returns an Organisation (docs/openapi.yaml, Organisation).
type Organisation struct {
	ID               string
	Name             string
	LogoURI          string
	PrivacyPolicyURI string
	WebsiteURI       string
	TermsURI         string
	Accent           string // colour of the organisation's pages, "#rrggbb" in lower case, or empty
	Look             Look   // corners, font and colour scheme of the organisation's pages
	Purpose          Purpose
	Plan             Plan
	Status           Status
	LiveAccess       LiveAccess
	LiveReview       LiveReview
	Emails           []string // recipients of notices, such as about webhook failures; not in GET /bridge/org
	VerifiedEmails   []string // verified addresses in Emails
	FoundedBy        string   // account that created the organisation; empty if an operator created it
	CreatedAt        time.Time
	Rev              int64 // revision for compare-and-swap
}

// Version returns the version of the settings that the organisation's members can change.
func (o Organisation) Version() string {
	radius := ""
	if o.Look.Radius != nil {
		radius = strconv.Itoa(*o.Look.Radius)
	}
	return version.Of([]string{
		o.Name, o.LogoURI, o.Accent, radius, o.Look.Font, o.Look.ColorScheme.String(), o.Purpose.English, o.Purpose.Spanish,
		o.PrivacyPolicyURI, o.TermsURI, o.WebsiteURI,
	}, o.Emails)
}

// CheckMode returns fault.Forbidden (svc_live_access_required) if the organisation may not use the mode.
func (o Organisation) CheckMode(mode Mode) error {
	if mode == Test || o.LiveAccess == LiveGranted {
		return nil
	}
	return fault.New(fault.Forbidden, fault.CodeLiveAccessRequired,
		"This organisation doesn't have access to live mode. An owner can request it in the dashboard.")
}

// MailSender returns the ID under which the organisation's emails are counted. Until an organisation is approved for
// live mode, its emails count against its founder's ID. Creating organisations therefore doesn't increase an account's
// email budget.
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

// Credential is one of a tenant's API key pairs. A Credential consists of a public ID, up to two active private keys,
// and the redirect URIs and origins allowed for the public ID.
type Credential struct {
	ID             string // UUID contained in the public ID
	Tenant         Tenant
	Note           string
	Keys           []Key
	RedirectURIs   []string // from 1 to 25 URIs, compared exactly
	AllowedOrigins []string // if empty, any origin may call the browser endpoints
	RevokedAt      time.Time
	CreatedAt      time.Time
	Rev            int64
}

// Key is one of a credential's private keys. Only a keyed hash of the private key is stored.
type Key struct {
	ID          string
	HashVersion int    // version of the hashing key that produced Hash
	Hash        []byte // HMAC-SHA256 of the private key
	CreatedAt   time.Time
	RevokedAt   time.Time // zero while the key is valid
}

// Caller is the organisation and credential on whose behalf a request acts. The Caller is identified by a private key
// or a public ID.
type Caller struct {
	Tenant         Tenant
	CredentialID   string
	RedirectURIs   []string
	AllowedOrigins []string
	Brand          Brand // set only for callers identified by a public ID
}

// Brand holds the details that help patients recognise an organisation.
type Brand struct {
	Name    string
	LogoURI string
	Accent  string // "#rrggbb" in lower case, or empty
}

// Version returns the version of the credential's note, redirect URIs and origins. Its keys don't affect the version.
func (c Credential) Version() string {
	return version.Of([]string{c.Note}, c.RedirectURIs, c.AllowedOrigins)
}

// PublicID returns the credential's public ID.
func (c Credential) PublicID() string { return "public_" + string(c.Tenant.Mode) + "_" + c.ID }
