// Package connection defines the connection between a patient and an organisation: its fields, its statuses and the
// operations that each status allows. A connection contains neither tokens (see package tokens) nor the patient's name.
// It identifies the patient only by a keyed hash.
package connection

import (
	"errors"
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
	Rejected   Status = "rejected" // the patient declined at the portal; no tokens were issued
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
	// DirectoryID is the facility's ID in the network's directory, set only on TEFCA connections. They have no
	// endpoint, brand or portal ID.
	DirectoryID string
	// Scope holds the granted scopes, separated by spaces. If the EHR doesn't return the granted scopes, Scope contains
	// the requested scopes (RFC 6749 section 5.1).
	Scope            string
	ConsentExpiresAt time.Time   // end of consent; zero if unknown
	Patient          secret.Mark // keyed hash of the issuer and patient ID, to recognise the patient on reconnect
	// ExternalID is the organisation's own ID for the patient, from the latest authorisation that supplied one.
	// External is the keyed hash of ExternalID and is used in searches. A connection made by release 0.1.0 has only the
	// hash until its patient reconnects.
	ExternalID string
	External   secret.Mark
	// VaultKey is a hash that identifies a TEFCA connection's person and external ID (package tefca/attempt). A
	// facility has one connection per VaultKey.
	VaultKey   string
	PersonKey  string // hash that identifies the person to whom a TEFCA connection belongs
	Generation int64  // number of authorisations; each reconnect adds one
	CreatedAt  time.Time
	Refresh    RefreshState
	Rev        int64 // revision, incremented by every change, for optimistic locking
}

// ExternalText returns the input for the keyed hash of an organisation's patient ID.
func ExternalText(tenant org.Tenant, externalID string) []byte {
	return []byte("external|" + tenant.Key() + "|" + externalID)
}

// RefreshState tracks the refreshes of a connection's tokens between exports (package refresh).
type RefreshState struct {
	// RefreshAt is the time of the next scheduled token refresh, or zero if none is scheduled.
	RefreshAt time.Time
	// Unrenewable reports that the portal did not issue a refresh token. An unrenewable connection ends when its access
	// token expires, at RefreshAt.
	Unrenewable bool
	// Failures counts consecutive failed refreshes that do not indicate withdrawn consent.
	Failures int
	// FailureClass is the last counted failure's class (fault.Spot). If a row could not be read, FailureClass is the
	// name of its unreadable field, such as "TOKENS.sealed". It is empty if the cause is unknown or if Failures is 0.
	FailureClass string
	// RenewedAt is the time of the last successful refresh since the patient authorised the connection, or zero if no
	// refresh has succeeded since then.
	RenewedAt time.Time
	// RefusedAt is the time at which RefusedVersion's refresh token was first refused during a burst of refusals, or
	// zero if it was not. A single refusal during a burst is not enough to revoke the connection.
	RefusedAt      time.Time
	RefusedVersion int64
	// ConsentFixed reports whether ConsentExpiresAt is known not to change on refresh. If ConsentFixed is true, the
	// organisation can be warned before consent ends.
	ConsentFixed bool
	// Warned reports whether the organisation has been warned that consent will soon end, for the current
	// ConsentExpiresAt and Generation.
	Warned bool
	// Ended is the reason the connection was revoked: "invalid_grant", "rotation_lost", AccessEnded or Disconnected.
	// Ended is empty if the connection has not been revoked.
	Ended string
	// EndedAt is the time at which the connection ended, or zero if the connection has not ended.
	EndedAt time.Time
	// UpstreamUntil is the deadline for revoking a disconnected connection's tokens at the health system.
	UpstreamUntil time.Time
}

// Exportable returns nil if a new export of the connection may start. If the connection can't be exported, it returns
// fault.Conflict with code svc_connection_not_exportable (docs/openapi.yaml). An unknown status is an internal error,
// because the row is damaged and the patient can't repair it by reconnecting.
func (c Connection) Exportable() error {
	switch c.Status {
	case Authorized:
		return nil
	case Rejected:
		return fault.New(fault.Conflict, fault.CodeConnectionNotExportable,
			"The patient declined to share records on this connection. Ask the patient to reconnect and allow access.").
			About("org_connection_id")
	case Revoked:
		return fault.New(fault.Conflict, fault.CodeConnectionNotExportable,
			"The patient's authorisation is no longer valid. Ask the patient to reconnect.").About("org_connection_id")
	}
	return fault.Spot{Operation: "decode", Row: "CONN", Attribute: "status"}.Failed(errStatus)
}

var errStatus = errors.New("the connection has an unknown status")

// Values of RefreshState.Ended in addition to a refusal's causes.
const (
	Disconnected = "disconnected"   // the organisation disconnected the connection
	AccessEnded  = "access_expired" // the access token expired and the portal never issued a refresh token
)

// EndingAt returns a copy of c that ends, and becomes due for processing, when c's access token expires. c must be an
// authorized connection without a refresh token. The copy's consent expires no later than the access token, because
// nothing can be read after that (docs/reference/deviations.md).
func (c Connection) EndingAt(accessEnds time.Time) Connection {
	c.Refresh.RefreshAt, c.Refresh.Unrenewable = accessEnds, true
	if c.ConsentExpiresAt.IsZero() || c.ConsentExpiresAt.After(accessEnds) {
		c.ConsentExpiresAt, c.Refresh.Warned = accessEnds, false
	}
	c.Refresh.ConsentFixed = true // no refresh can change the expiry
	return c
}

// warnBefore is the time before the end of consent at which the organisation is warned (docs/reference/deviations.md).
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
// unknown or unreliable, or if the warning was already sent. A refresh token's expiry is unreliable if every refresh
// changes it.
func (c Connection) WarnAt() time.Time {
	if c.Refresh.Warned || !c.Refresh.ConsentFixed || c.ConsentExpiresAt.IsZero() || c.Status != Authorized {
		return time.Time{}
	}
	return c.ConsentExpiresAt.Add(-warnBefore)
}

// Missing returns the error for a connection that the tenant doesn't have.
func Missing() error { return fault.Missing("Connection not found.").About("org_connection_id") }
