// Package connection owns the connection between a patient and an organisation: its fields, its states and what a
// state allows. It holds no token (package tokens does) and no name of the patient, only a keyed hash for comparing.
package connection

import (
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
)

// Status is the state of a connection (spec section 3.1, decisions section 5).
type Status string

// The statuses.
const (
	Authorized Status = "authorized"
	Revoked    Status = "revoked"
	Rejected   Status = "rejected" // the patient declined at the portal; no tokens were ever held
)

// Connection links one patient at one endpoint with one organisation (spec section 2.1).
type Connection struct {
	ID               string // org_connection_id, UUID
	Tenant           org.Tenant
	Status           Status
	BrandID          string
	PortalID         string
	EndpointID       string
	PlatformType     string
	Scope            string      // granted scopes, space-separated: those asked for when the EHR did not say (RFC 6749 section 5.1)
	ConsentExpiresAt time.Time   // zero when unknown
	Patient          secret.Mark // keyed hash of issuer and patient id, for "same patient" on reconnect
	Generation       int64       // counts authorisations: one more with every reconnect
	CreatedAt        time.Time
	Rev              int64
}

// Exportable returns nil when a new export may open on the connection, else fault.Conflict with
// svc_connection_not_exportable (decisions section 2).
func (c Connection) Exportable() error {
	if c.Status == Authorized {
		return nil
	}
	return fault.New(fault.Conflict, fault.CodeConnectionNotExportable,
		"The patient's authorisation is no longer valid. Ask the patient to reconnect.")
}

// Missing is the answer for a connection that is not there for this tenant.
func Missing() error { return fault.Missing("There is no such connection.") }
