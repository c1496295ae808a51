// Package connection owns the connection between a patient and an organisation: its fields, its states and what a
// state allows. It holds no token (package tokens does) and no name of the patient, only a keyed hash for comparing.
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
	// of the facility in the network's directory (tefca_directory_id); of a TEFCA connection, which
	// has none of the three ids
	DirectoryID string
	// granted scopes, space-separated: those asked for when the EHR did not say (RFC 6749 section 5.1)
	Scope            string
	ConsentExpiresAt time.Time   // zero when unknown
	Patient          secret.Mark // keyed hash of issuer and patient id, for "same patient" on reconnect
	// keyed hash of the organisation's own id for the patient, to search by; zero when none was given
	External secret.Mark
	// names the person and external id of a TEFCA connection, as a hash (package tefca/attempt): each facility
	// has one connection of it
	VaultKey   string
	PersonKey  string // names the person of a TEFCA connection, as a hash
	Generation int64  // counts authorisations: one more with every reconnect
	CreatedAt  time.Time
	Refresh    RefreshState
	Rev        int64 // one more with every change; who changes it names the one that was read
}

// ExternalText is what the mark of an organisation's own id for a patient is made of.
func ExternalText(tenant org.Tenant, externalID string) []byte {
	return []byte("external|" + tenant.Key() + "|" + externalID)
}

// RefreshState is how the tokens of a connection are looked after between exports (package refresh).
type RefreshState struct {
	// RefreshAt is when the tokens are next due; zero when they never are.
	RefreshAt time.Time
	// Unrenewable says that the portal gave no refresh token: RefreshAt is the end of the access token, and of the
	// connection with it.
	Unrenewable bool
	// Failures counts failures in a row that said nothing about the consent.
	Failures int
	// FailureClass is what the last of them was: the class of its fault.Spot, or what of a row could not be read, such as
	// "TOKENS.sealed"; empty when it told neither, and when Failures is 0.
	FailureClass string
	// RenewedAt is when a refresh last brought tokens; zero when none has since the patient authorised the connection.
	RenewedAt time.Time
	// RefusedAt is when the refresh token of RefusedVersion was first refused while so many were that it was not
	// believed; zero when it was not.
	RefusedAt      time.Time
	RefusedVersion int64
	// ConsentFixed says that ConsentExpiresAt is known not to move with refreshes, so that it can be warned of.
	ConsentFixed bool
	// Warned says that the coming end of consent has been told, for ConsentExpiresAt and Generation as they are.
	Warned bool
	// Ended says why the connection was revoked: "invalid_grant", "rotation_lost", AccessEnded or
	// Disconnected; empty else.
	Ended string
	// EndedAt is the time of the end; zero for a connection that has not ended.
	EndedAt time.Time
	// UpstreamUntil is until when the health system is asked to revoke what a disconnected connection held.
	UpstreamUntil time.Time
}

// Exportable returns nil when a new export may open on the connection, else fault.Conflict with
// svc_connection_not_exportable (docs/openapi.yaml).
func (c Connection) Exportable() error {
	if c.Status == Authorized {
		return nil
	}
	if c.Status == Rejected {
		return fault.New(fault.Conflict, fault.CodeConnectionNotExportable,
			"The patient declined to share records on this connection. Ask the patient to reconnect and to allow access.").
			About("org_connection_id")
	}
	return fault.New(fault.Conflict, fault.CodeConnectionNotExportable,
		"The patient's authorisation is no longer valid. Ask the patient to reconnect.").About("org_connection_id")
}

// What Refresh.Ended says, beside the causes of a refusal.
const (
	Disconnected = "disconnected"   // its organisation gave it up
	AccessEnded  = "access_expired" // its access token has ended, and there never was a refresh token
)

// EndingAt returns the connection, which is authorized without a refresh token, as one that ends with its
// access token, and is due then. Consent is not said to last longer than that, since nothing can be read after
// it (docs/reference/deviations.md).
func (c Connection) EndingAt(accessEnds time.Time) Connection {
	c.Refresh.RefreshAt, c.Refresh.Unrenewable = accessEnds, true
	if c.ConsentExpiresAt.IsZero() || c.ConsentExpiresAt.After(accessEnds) {
		c.ConsentExpiresAt, c.Refresh.Warned = accessEnds, false
	}
	c.Refresh.ConsentFixed = true // no refresh can move it
	return c
}

// warnBefore is how long before the end of consent the organisation is told (docs/reference/deviations.md).
const warnBefore = 7 * 24 * time.Hour

// DueAt is when somebody has to act on the connection next; zero for never.
func (c Connection) DueAt() time.Time {
	switch {
	case !c.Refresh.UpstreamUntil.IsZero():
		return c.Refresh.RefreshAt // of a disconnected connection: the next try upstream
	case c.Status != Authorized:
		return time.Time{}
	}
	at := c.Refresh.RefreshAt
	if warn := c.WarnAt(); !warn.IsZero() && (at.IsZero() || warn.Before(at)) {
		at = warn
	}
	return at
}

// WarnAt is when the organisation is told that consent is about to end; zero when it never is, was told already, or is
// not known well enough: the end of a refresh token that each refresh moves is not the end of consent.
func (c Connection) WarnAt() time.Time {
	if c.Refresh.Warned || !c.Refresh.ConsentFixed || c.ConsentExpiresAt.IsZero() || c.Status != Authorized {
		return time.Time{}
	}
	return c.ConsentExpiresAt.Add(-warnBefore)
}

// Missing is the answer for a connection that is not there for this tenant.
func Missing() error { return fault.Missing("There is no such connection.").About("org_connection_id") }
