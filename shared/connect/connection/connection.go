// Package connection owns the connection between a patient and an organisation: its fields, its states and the
// operations that each state permits. It holds no tokens (package tokens does) and no patient name, only a keyed hash
// for comparison.
package connection

import (
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Status is the state of a connection (docs/develop/lifecycles.md, "The life of a connection").
type Status string

// The statuses.
const (
	Authorized Status = "authorized"
	Revoked    Status = "revoked"
	Rejected   Status = "rejected" // the patient declined at the portal; no tokens were ever held
)

// TEFCAPlatform is the platform type of every connection made in TEFCA mode.
const TEFCAPlatform = "tefca"

// Connection links one patient at one endpoint with one organisation.
type Connection struct {
	ID           string // org_connection_id, UUID
	Tenant       org.Tenant
	Status       Status
	BrandID      string
	PortalID     string
	EndpointID   string
	PlatformType string
	// of the facility in the network's directory; set on TEFCA connections, which lack the three ids
	DirectoryID string
	// granted, space-separated; the requested scopes if the EHR named none (RFC 6749 section 5.1)
	Scope            string
	ConsentExpiresAt time.Time   // zero when unknown
	Patient          secret.Mark // keyed hash of issuer and patient id, to recognise the same patient on reconnect
	// keyed hash of the organisation's own patient id, for searches; zero if none was given
	External secret.Mark
	// identifies the person and external id of a TEFCA connection, as a hash (package tefca/attempt); a facility has one
	// connection for each value
	VaultKey   string
	PersonKey  string // identifies the person of a TEFCA connection, as a hash
	Generation int64  // counts authorisations; each reconnect adds one
	CreatedAt  time.Time
	Refresh    RefreshState
	Rev        int64 // incremented by every change; a writer names the revision that it read
}

// ExternalText returns the text from which the mark of an organisation's own patient id is computed.
func ExternalText(tenant org.Tenant, externalID string) []byte {
	return []byte("external|" + tenant.Key() + "|" + externalID)
}

// RefreshState records the maintenance of a connection's tokens between exports (package refresh).
type RefreshState struct {
	// RefreshAt is the time at which the tokens are next due; zero if they never are.
	RefreshAt time.Time
	// Unrenewable reports that the portal issued no refresh token: RefreshAt is then the expiry of the access token, and
	// with it of the connection.
	Unrenewable bool
	// Failures counts consecutive failures that do not indicate a withdrawn consent.
	Failures int
	// FailureClass classifies the last such failure: the class of its fault.Spot, or the unreadable field of a row, such
	// as "TOKENS.sealed". It is empty if neither is known or if Failures is 0.
	FailureClass string
	// RenewedAt is the time of the last successful refresh; zero if there has been none since the patient authorised the
	// connection.
	RenewedAt time.Time
	// RefusedAt is the time at which the refresh token of RefusedVersion was first refused during a burst of refusals,
	// when single refusals are not trusted; zero if it was not.
	RefusedAt      time.Time
	RefusedVersion int64
	// ConsentFixed reports that refreshes are known not to move ConsentExpiresAt, so that the organisation can be warned
	// of it.
	ConsentFixed bool
	// Warned reports that the organisation was warned of the end of consent, for the current ConsentExpiresAt and
	// Generation.
	Warned bool
	// Ended is the reason the connection was revoked: "invalid_grant", "rotation_lost", AccessEnded or Disconnected; empty
	// otherwise.
	Ended string
	// EndedAt is the time at which the connection ended; zero if it has not.
	EndedAt time.Time
	// UpstreamUntil is the deadline for asking the health system to revoke the tokens of a disconnected connection.
	UpstreamUntil time.Time
}

// Exportable returns nil if a new export may start on the connection, else fault.Conflict with
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

// Values of Refresh.Ended besides the causes of a refusal.
const (
	Disconnected = "disconnected"   // the organisation disconnected it
	AccessEnded  = "access_expired" // its access token expired, and there never was a refresh token
)

// EndingAt returns the connection, which is authorized without a refresh token, set to end and to fall due when its
// access token expires. Its consent is reported to end no later than that, because nothing can be read afterwards
// (docs/reference/deviations.md).
func (c Connection) EndingAt(accessEnds time.Time) Connection {
	c.Refresh.RefreshAt, c.Refresh.Unrenewable = accessEnds, true
	if c.ConsentExpiresAt.IsZero() || c.ConsentExpiresAt.After(accessEnds) {
		c.ConsentExpiresAt, c.Refresh.Warned = accessEnds, false
	}
	c.Refresh.ConsentFixed = true // no refresh can move it
	return c
}

// warnBefore is the notice that the organisation gets before consent ends (docs/reference/deviations.md).
const warnBefore = 7 * 24 * time.Hour

// DueAt returns the time of the connection's next scheduled action; zero for never.
func (c Connection) DueAt() time.Time {
	switch {
	case !c.Refresh.UpstreamUntil.IsZero():
		return c.Refresh.RefreshAt // for a disconnected connection: the next upstream revocation attempt
	case c.Status != Authorized:
		return time.Time{}
	}
	at := c.Refresh.RefreshAt
	if warn := c.WarnAt(); !warn.IsZero() && (at.IsZero() || warn.Before(at)) {
		at = warn
	}
	return at
}

// WarnAt returns the time at which to warn the organisation that consent is about to end. It is zero if consent has no
// known end, if the warning was already sent, or if the end is not reliable: the expiry of a refresh token that every
// refresh moves is not the end of consent.
func (c Connection) WarnAt() time.Time {
	if c.Refresh.Warned || !c.Refresh.ConsentFixed || c.ConsentExpiresAt.IsZero() || c.Status != Authorized {
		return time.Time{}
	}
	return c.ConsentExpiresAt.Add(-warnBefore)
}

// Missing returns the error for a connection that does not exist for this tenant.
func Missing() error { return fault.Missing("Connection not found.").About("org_connection_id") }
