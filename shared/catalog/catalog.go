// Package catalog owns the institutions: brand, portal and endpoint, and under which registration our client is
// known at an endpoint. It knows no HTTP and no AWS; URLs and registrations never leave the service.
package catalog

import (
	"recordbridge/shared/fault"
)

// EndpointStatus says whether patients may be sent to an endpoint.
type EndpointStatus string

// The statuses (decisions section 4).
const (
	EndpointActive    EndpointStatus = "active"
	EndpointSuspended EndpointStatus = "suspended"
)

// Endpoint is one FHIR server of an institution.
type Endpoint struct {
	ID           string // UUID
	BrandID      string
	PortalID     string
	Name         string
	FHIRBase     string // absolute URL without a trailing slash
	PlatformType string
	FHIRVersion  string
	Mode         string // "test" or "live": sandboxes are never offered to live credentials
	Status       EndpointStatus
	Rev          int64
}

// Registration is how our client is registered at an endpoint (fhir notes section 1.3).
type Registration struct {
	EndpointID string
	ClientID   string
	Scope      string // what to ask for, space-separated
	Rev        int64
}

// MissingEndpoint is the answer for an endpoint that is unknown, suspended or of the other mode.
func MissingEndpoint() error { return fault.BadRequest("endpoint_id is not known.") }
