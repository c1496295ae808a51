// Package record defines the catalogue's records as they appear in files and responses
// (docs/adr/0023-the-catalogue.md): brands, their portals, the portals' endpoints, and the successors of merged
// records. A catalogue belongs to one mode. FHIR base URLs (Endpoint.FHIRBase) are for publishing and don't appear in
// public responses.
package record

import "time"

// Brand is an institution under the name that patients know.
type Brand struct {
	State

	ID           string     `json:"id"` // UUID, like the IDs of all records
	LastUpdated  time.Time  `json:"last_updated"`
	Name         string     `json:"name"`
	BrandWebsite string     `json:"brand_website"`
	LogoURI      string     `json:"logo_uri"`
	LogoLicense  string     `json:"logo_license_uri,omitempty"`
	Aliases      []string   `json:"aliases"`
	Description  string     `json:"description"`
	Locations    []Location `json:"locations"`
	PortalIDs    []string   `json:"portal_ids"`
	BrandIDs     []string   `json:"brand_ids"` // IDs of brands merged into this brand
	NPIs         []string   `json:"npis"`
	Hidden       bool       `json:"hidden"` // whether searches exclude the brand; its ID still resolves
	SortName     string     `json:"sort_name"`
	PlatformType string     `json:"platform_type"`
	Category     string     `json:"category"`
}

// Portal is a site where patients of one or more brands sign in.
type Portal struct {
	State

	ID            string    `json:"id"`
	LastUpdated   time.Time `json:"last_updated"`
	Name          string    `json:"name"`
	PortalWebsite string    `json:"portal_website"`
	LogoURI       string    `json:"logo_uri"`
	Description   string    `json:"description"`
	EndpointIDs   []string  `json:"endpoint_ids"`
	// Hosts lists the hosts of the endpoints' FHIR servers (catalog.Host), sorted. It is set if patients need it to
	// tell portals apart, because the brand has several portals or shares its name with another brand.
	Hosts []string `json:"hosts,omitempty"`
	// Choice groups a brand's portals that patients can't tell apart, because they have the same name, website and
	// domain. All portals in a group have the same Choice, which is empty for portals without a group.
	Choice string `json:"choice,omitempty"`
}

// Endpoint is a FHIR server that serves one or more portals.
type Endpoint struct {
	State

	ID             string    `json:"id"`
	LastUpdated    time.Time `json:"last_updated"`
	Status         string    `json:"status"`          // status: Active or Suspended
	ConnectionType string    `json:"connection_type"` // ConnectionType
	PlatformType   string    `json:"platform_type"`
	FHIRVersion    string    `json:"fhir_version"`
	Name           string    `json:"name"`

	FHIRBase string `json:"-"` // absolute URL without a trailing slash
}

// Endpoint statuses, and the code for an endpoint's connection type
// (http://terminology.hl7.org/CodeSystem/endpoint-connection-type).
const (
	Active         = "active"
	Suspended      = "suspended"
	ConnectionType = "hl7-fhir-rest"
)

// Location is a place where a brand treats patients.
type Location struct {
	City       string `json:"city"`
	State      string `json:"state"` // state; two letters in the United States
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"` // country code (ISO 3166-1 alpha-2)
}

// State describes whether a list still contains a record. The zero State means that a list contained the record when
// the lists were last read.
type State struct {
	// UnconfirmedSince is the time since which every list that contains the record has been unreadable or rejected. The
	// record's content is as of that time.
	UnconfirmedSince *time.Time `json:"unconfirmed_since,omitempty"`
	// RemovedAt is the time at which the record disappeared from the last list that contained it. A removed record is a
	// tombstone: searches exclude it, and it accepts no new connections.
	RemovedAt *time.Time `json:"removed_at,omitempty"`
}

// Gone reports whether the record is a tombstone.
func (s State) Gone() bool { return s.RemovedAt != nil }

// Catalog holds all records in a mode.
type Catalog struct {
	Brands    map[string]Brand
	Portals   map[string]Portal
	Endpoints map[string]Endpoint
	// Successors maps the IDs of merged records to the IDs of their successors. A successor has the same type and no
	// successor of its own.
	Successors map[string]string
}

// Resolve returns a record's current ID. It is the record's own ID or the ID of the record into which it was merged.
func (c Catalog) Resolve(id string) string {
	if successor, isMerged := c.Successors[id]; isMerged {
		return successor
	}
	return id
}
