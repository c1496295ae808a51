// Package connection defines the connection between a patient and an organisation: its fields, its statuses and the
// operations that each status permits. A connection contains no tokens (see package tokens) and no patient name, only a
// keyed hash for comparison.
package connection

import (
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Status is the status of a connection (docs/develop/lifecycles.md, "The life of a connection").
type Status string

// Connection statuses.
const (
	Authorized Status = "authorized"
	Revoked    Status = "revoked"
	Rejected   Status = "rejected" // the patient declined at the portal; there were never any tokens
)

// TEFCAPlatform is the platform type of every connection created in TEFCA mode.
const TEFCAPlatform = "tefca"

// Connection links a patient at one endpoint to one organisation.
type Connection struct {
	ID           string // UUID; org_connection_id in the API
	Tenant       org.Tenant
	Status       Status
	BrandID      string
	PortalID     string
	EndpointID   string
	PlatformType string
	// DirectoryID is the facility's ID in the network's directory. It is set on TEFCA connections, which lack the
	// endpoint, brand and portal IDs above.
	DirectoryID string
	// Scope holds the granted scopes, separated by spaces. If the EHR named no granted scopes, Scope holds the
	// requested scopes (RFC 6749 section 5.1).
	Scope            string
	ConsentExpiresAt time.Time   // zero if unknown
	Patient          secret.Mark // keyed hash of issuer and patient ID, to recognise the same patient on reconnect
	// External is a keyed hash of the organisation's own patient ID, for searches. It is zero if the organisation
	// supplied no ID.
	External secret.Mark
	// VaultKey is a hash that identifies the person and the external ID of a TEFCA connection (package tefca/attempt).
	// A facility has one connection for each VaultKey.
	VaultKey   string
	PersonKey  string // hash that identifies the person of a TEFCA connection
	Generation int64  // number of authorisations; each reconnect adds one
	CreatedAt  time.Time
	Refresh    RefreshState
	Rev        int64 // revision, incremented by every change; a writer states the revision that it read
}

// ExternalText returns the text from which the keyed hash of an organisation's own patient ID is computed.
func ExternalText(tenant org.Tenant, externalID string) []byte {
	return []byte("external|" + tenant.Key() + "|" + externalID)
}

// RefreshState records the maintenance of a connection's tokens between exports (package refresh).
type RefreshState struct {
	// RefreshAt is the time at which the tokens are next due for a refresh, or zero if no refresh is due.
	RefreshAt time.Time
	// Unrenewable reports whether the portal issued no refresh token. For such a connection, RefreshAt is the expiry of
	// the access token, at which the connection also ends.
	Unrenewable bool
	// Failures counts consecutive failed refreshes that do not indicate a withdrawn consent.
	Failures int
	// FailureClass classifies the last counted failure. It is the class of the failure's fault.Spot, or the unreadable
	// field of a row, such as "TOKENS.sealed". FailureClass is empty if the class and the field are unknown or if
	// Failures is 0.
	FailureClass string
	// RenewedAt is the time of the last successful refresh. It is zero if no refresh has succeeded since the patient
	// authorised the connection.
	RenewedAt time.Time
	// RefusedAt is the time at which the refresh token of RefusedVersion was first refused during a burst of refusals.
	// A single refusal during a burst is not trusted. RefusedAt is zero if no such refusal occurred.
	RefusedAt      time.Time
	RefusedVersion int64
	// ConsentFixed reports whether refreshes are known not to move ConsentExpiresAt, so that the organisation can be
	// warned of the end of consent.
	ConsentFixed bool
	// Warned reports whether the organisation was warned of the end of consent for the current ConsentExpiresAt and
	// Generation.
	Warned bool
	// Ended is the reason the connection was revoked: "invalid_grant", "rotation_lost", AccessEnded or Disconnected. It is
	// empty if the connection has not been revoked.
	Ended string
	// EndedAt is the time at which the connection ended, or zero if the connection has not ended.
	EndedAt time.Time
	// UpstreamUntil is the deadline for requesting that the health system revoke the tokens of a disconnected connection.
	UpstreamUntil time.Time
}

// Exportable returns nil if a new export may start on the connection. Otherwise, it returns fault.Conflict with code
// svc_connection_not_exportable (docs/openapi.yaml).
func (c Connection) Exportable() error {
	if c.Status == Authorized {
		return nil
	}
	if c.Status == Rejected {
		return fault.New(fault.Conflict, fault.CodeConnectionNotExportable,
			"The patient declined to share records on this connection. Ask the patient to reconnect and allow access.").
			About("org_connection_id")
	}
	return fault.New(fault.Conflict, fault.CodeConnectionNotExportable,
		"The patient's authorisation is no longer valid. Ask the patient to reconnect.").About("org_connection_id")
}

// Values of RefreshState.Ended, in addition to the causes of a refusal.
const (
	Disconnected = "disconnected"   // the organisation disconnected the connection
	AccessEnded  = "access_expired" // the access token expired and the portal never issued a refresh token
)

// EndingAt returns a copy of c, an authorized connection without a refresh token. The copy ends and falls due when its
// access token expires. The copy's consent expires no later than the access token, because nothing can be read
// afterwards (docs/reference/deviations.md).
func (c Connection) EndingAt(accessEnds time.Time) Connection {
	c.Refresh.RefreshAt, c.Refresh.Unrenewable = accessEnds, true
	if c.ConsentExpiresAt.IsZero() || c.ConsentExpiresAt.After(accessEnds) {
		c.ConsentExpiresAt, c.Refresh.Warned = accessEnds, false
	}
	c.Refresh.ConsentFixed = true // no refresh can move the expiry
	return c
}

// warnBefore is the time between the warning to the organisation and the end of consent (docs/reference/deviations.md).
const warnBefore = 7 * 24 * time.Hour

// DueAt returns the time of the connection's next scheduled action, or zero if no action is scheduled.
func (c Connection) DueAt() time.Time {
	switch {
	case !c.Refresh.UpstreamUntil.IsZero():
		return c.Refresh.RefreshAt // the next upstream revocation attempt for a disconnected connection
	case c.Status != Authorized:
		return time.Time{}
	}
	at := c.Refresh.RefreshAt
	if warn := c.WarnAt(); !warn.IsZero() && (at.IsZero() || warn.Before(at)) {
		at = warn
	}
	return at
}

// WarnAt returns the time at which to warn the organisation that consent is about to end. It returns zero if consent
// has no known end, if the warning was already sent, or if the end is unreliable. The expiry of a refresh token is not
// the end of consent if the expiry moves with every refresh.
func (c Connection) WarnAt() time.Time {
	if c.Refresh.Warned || !c.Refresh.ConsentFixed || c.ConsentExpiresAt.IsZero() || c.Status != Authorized {
		return time.Time{}
	}
	return c.ConsentExpiresAt.Add(-warnBefore)
}

// Missing returns the error for a connection that does not exist for this tenant.
func Missing() error { return fault.Missing("Connection not found.").About("org_connection_id") }
