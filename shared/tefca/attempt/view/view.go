// Package view renders a TEFCA attempt for the page that created the attempt (docs/openapi.yaml, TEFCARecords). The
// package is separate because two endpoints return this representation.
package view

import (
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/timestamp"
)

// Records describes an attempt's progress.
type Records struct {
	AttemptID         string           `json:"attempt_id"`
	Status            attempt.Status   `json:"status"`
	IdentityExpiresAt string           `json:"identity_expires_at,omitempty"` // RFC 3339
	Facilities        []Facility       `json:"facilities"`
	Error             *binding.Failure `json:"error,omitempty"`
}

// Facility describes a facility that the network reported.
type Facility struct {
	DirectoryID string          `json:"tefca_directory_id"`
	Name        string          `json:"name"`
	City        string          `json:"city"`
	State       string          `json:"state"`
	Match       tefca.Match     `json:"match"`
	Outcome     attempt.Outcome `json:"outcome,omitempty"`
	Reason      attempt.Reason  `json:"reason,omitempty"`
	Connection  *Connection     `json:"connection,omitempty"`
}

// Connection has the same fields as the event patient.connection_success.
type Connection struct {
	OrgConnectionID  string            `json:"org_connection_id"`
	ConnectionStatus connection.Status `json:"connection_status"`
	PlatformType     string            `json:"platform_type"`
	RequestID        string            `json:"request_id"`
	ExternalID       string            `json:"external_id,omitempty"`
	ExternalState    string            `json:"external_state,omitempty"`
	Scope            string            `json:"scope"`
	ConsentExpiresAt string            `json:"consent_expires_at"` // RFC 3339
	TEFCADirectoryID string            `json:"tefca_directory_id"`
}

// Of converts p to the API's representation.
func Of(p attempt.Progress) Records {
	out := Records{
		AttemptID: p.Attempt.ID, Status: p.Status, IdentityExpiresAt: timestamp.Of(p.Attempt.IdentityEnds),
		Facilities: make([]Facility, 0, len(p.Facilities)), Error: p.Failure,
	}
	for _, f := range p.Facilities {
		shown := Facility{
			DirectoryID: f.ID, Name: f.Name, City: f.City, State: f.State, Match: f.Match, Outcome: f.Outcome,
			Reason: f.Reason,
		}
		if f.Outcome == attempt.IsConnected {
			shown.Connection = &Connection{
				OrgConnectionID: f.Connected.ConnectionID, ConnectionStatus: connection.Authorized,
				PlatformType: connection.TEFCAPlatform,
				RequestID:    p.Attempt.RequestID, ExternalID: p.Attempt.ExternalID, ExternalState: p.Attempt.ExternalState,
				Scope:            tefca.Scope,
				ConsentExpiresAt: timestamp.Of(f.Connected.ConsentExpiresAt), TEFCADirectoryID: f.ID,
			}
		}
		out.Facilities = append(out.Facilities, shown)
	}
	return out
}
