// Package connection defines the connection between a patient and an organisation, including its fields, its statuses
// and the operations that each status allows. A connection doesn't contain any tokens (see package tokens) or the
// patient's name; it contains only a keyed hash for comparison.
package connection

import (
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Status is a connection's status (docs/develop/lifecycles.md, "The life of a connection").
type Status string

// Connection statuses.
const (
	Authorized Status = "authorized"
	Revoked    Status = "revoked"
	Rejected   Status = "rejected" // the patient declined at the portal; tokens never existed
)

// TEFCAPlatform is the platform type of every connection created in TEFCA mode.
const TEFCAPlatform = "tefca"

// Connection links a patient at an endpoint to an organisation.
type Connection struct {
	ID           string // UUID; org_connection_id in the API
	Tenant       org.Tenant
	Status       Status
	BrandID      string
	PortalID     string
	EndpointID   string
	PlatformType string
	// DirectoryID is the facility's ID in the network's directory. DirectoryID is set on TEFCA connections, which lack
	// the endpoint, brand and portal IDs above.
	DirectoryID string
	// Scope holds the granted scopes, separated by spaces. If the EHR didn't name any granted scopes, Scope holds the
	// requested scopes (RFC 6749 section 5.1).
	Scope            string
	ConsentExpiresAt time.Time   // end of consent; zero if unknown
	Patient          secret.Mark // keyed hash of issuer and patient ID, to recognise the same patient on reconnect
	// External is a keyed hash of the organisation's own patient ID, for searches, or zero if the organisation didn't
	// supply an ID.
	External secret.Mark
	// VaultKey is a hash that identifies the person and the external ID for a TEFCA connection (package tefca/attempt).
	// A facility has one connection for each VaultKey.
	VaultKey   string
	PersonKey  string // hash that identifies the person for a TEFCA connection
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
	// RefreshAt is the time at which the tokens are next due for a refresh, or zero if a refresh is not scheduled.
	RefreshAt time.Time
	// Unrenewable reports that the portal did not issue a refresh token. For such a connection, RefreshAt is the access
	// token's expiry, at which the connection also ends.
	Unrenewable bool
	// Failures counts consecutive failed refreshes that do not indicate a withdrawn consent.
	Failures int
	// FailureClass classifies the last counted failure. The value is either the class of the failure's fault.Spot or
	// the unreadable field in a row, such as "TOKENS.sealed". FailureClass is empty if the class and the field are
	// unknown or if Failures is 0.
	FailureClass string
	// RenewedAt is the time of the last successful refresh since the patient authorised the connection. RenewedAt is
	// zero if no such refresh has succeeded.
	RenewedAt time.Time
	// RefusedAt is the time at which the refresh token for RefusedVersion was first refused during a burst of refusals.
	// A single refusal during a burst is not trusted. RefusedAt is zero if no such refusal occurred.
	RefusedAt      time.Time
	RefusedVersion int64
	// ConsentFixed reports whether refreshes are known not to change ConsentExpiresAt. If ConsentFixed is true, the
	// organisation can be warned before consent ends.
	ConsentFixed bool
	// Warned reports whether the organisation was warned that consent is about to end, for the current ConsentExpiresAt
	// and Generation.
	Warned bool
	// Ended is the reason the connection was revoked: "invalid_grant", "rotation_lost", AccessEnded or Disconnected.
	// Ended is empty if the connection has not been revoked.
	Ended string
	// EndedAt is the time at which the connection ended, or zero if the connection has not ended.
	EndedAt time.Time
	// UpstreamUntil is the deadline for asking the health system to revoke a disconnected connection's tokens.
	UpstreamUntil time.Time
}

// Exportable returns nil if a new export may start on the connection. For any other connection, it returns
// fault.Conflict with code svc_connection_not_exportable (docs/openapi.yaml).
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

// Values for RefreshState.Ended, in addition to the causes for a refusal.
const (
	Disconnected = "disconnected"   // the organisation disconnected the connection
	AccessEnded  = "access_expired" // the access token expired and the portal never issued a refresh token
)

// EndingAt returns a copy of c, which must be an authorized connection without a refresh token. The copy ends and falls
// due when its access token expires. The copy's consent expires no later than the access token, because nothing can be
// read afterwards (docs/reference/deviations.md).
func (c Connection) EndingAt(accessEnds time.Time) Connection {
	c.Refresh.RefreshAt, c.Refresh.Unrenewable = accessEnds, true
	if c.ConsentExpiresAt.IsZero() || c.ConsentExpiresAt.After(accessEnds) {
		c.ConsentExpiresAt, c.Refresh.Warned = accessEnds, false
	}
	c.Refresh.ConsentFixed = true // no refresh can change the expiry
	return c
}

// warnBefore is the time between the warning to the organisation and the end of consent (docs/reference/deviations.md).
const warnBefore = 7 * 24 * time.Hour

// DueAt returns the time of the connection's next scheduled action, or zero if nothing is scheduled.
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

// WarnAt returns the time at which to warn the organisation that consent is about to end. It returns zero if the end is
// unknown or unreliable, or if the warning was already sent. A refresh token's expiry is not a reliable end if every
// refresh changes it.
func (c Connection) WarnAt() time.Time {
	if c.Refresh.Warned || !c.Refresh.ConsentFixed || c.ConsentExpiresAt.IsZero() || c.Status != Authorized {
		return time.Time{}
	}
	return c.ConsentExpiresAt.Add(-warnBefore)
}

// Missing returns the error for a connection that does not exist for this tenant.
func Missing() error { return fault.Missing("Connection not found.").About("org_connection_id") }
