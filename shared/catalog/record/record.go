// Package record owns what the catalogue says of institutions, as files and answers have it
// (docs/adr/0023-the-catalogue.md): brands, their portals, the portals' endpoints, and what became of records that were
// merged or have gone. A catalogue is of one mode. Addresses of FHIR servers are in it for publishing
// (Endpoint.FHIRBase) and in no public answer.
package record

import "time"

// Brand is an institution as patients know it.
type Brand struct {
	State

	ID           string     `json:"id"` // UUID, as all ids of records
	LastUpdated  time.Time  `json:"last_updated"`
	Name         string     `json:"name"`
	BrandWebsite string     `json:"brand_website"`
	LogoURI      string     `json:"logo_uri"`
	LogoLicense  string     `json:"logo_license_uri,omitempty"`
	Aliases      []string   `json:"aliases"`
	Description  string     `json:"description"`
	Locations    []Location `json:"locations"`
	PortalIDs    []string   `json:"portal_ids"`
	BrandIDs     []string   `json:"brand_ids"` // merged into this one
	NPIs         []string   `json:"npis"`
	Hidden       bool       `json:"hidden"` // not found by searching; its id still answers
	SortName     string     `json:"sort_name"`
	PlatformType string     `json:"platform_type"`
	Category     string     `json:"category"`
}

// Portal is where patients of one or more brands sign in.
type Portal struct {
	State

	ID            string    `json:"id"`
	LastUpdated   time.Time `json:"last_updated"`
	Name          string    `json:"name"`
	PortalWebsite string    `json:"portal_website"`
	LogoURI       string    `json:"logo_uri"`
	Description   string    `json:"description"`
	EndpointIDs   []string  `json:"endpoint_ids"`
	// Hosts lists the hosts of its endpoints' FHIR servers (catalog.Host), sorted, if the brand has several portals:
	// patients tell portals apart by them.
	Hosts []string `json:"hosts,omitempty"`
}

// Endpoint is a FHIR server of one or more portals.
type Endpoint struct {
	State

	ID             string    `json:"id"`
	LastUpdated    time.Time `json:"last_updated"`
	Status         string    `json:"status"`          // active or suspended
	ConnectionType string    `json:"connection_type"` // ConnectionType
	PlatformType   string    `json:"platform_type"`
	FHIRVersion    string    `json:"fhir_version"`
	Name           string    `json:"name"`

	FHIRBase string `json:"-"` // absolute URL without a trailing slash
}

// The statuses of an endpoint, and the code of its connection type
// (http://terminology.hl7.org/CodeSystem/endpoint-connection-type).
const (
	Active         = "active"
	Suspended      = "suspended"
	ConnectionType = "hl7-fhir-rest"
)

// Location is where a brand treats patients.
type Location struct {
	City       string `json:"city"`
	State      string `json:"state"` // of the United States: two letters
	PostalCode string `json:"postal_code"`
	Country    string `json:"country"` // ISO 3166-1 alpha-2
}

// State is how a record stands with the lists that it came from. The zero value is one that a list
// has, as of its last reading.
type State struct {
	// UnconfirmedSince is since when none of its lists could be read, or all of them were refused: what is
	// said of it was true then.
	UnconfirmedSince *time.Time `json:"unconfirmed_since,omitempty"`
	// RemovedAt is when the last of its lists left it out: a tombstone, which is not found by searching
	// and not connected to anew.
	RemovedAt *time.Time `json:"removed_at,omitempty"`
}

// Gone reports whether it is a tombstone.
func (s State) Gone() bool { return s.RemovedAt != nil }

// Catalog is everything of one mode.
type Catalog struct {
	Brands    map[string]Brand
	Portals   map[string]Portal
	Endpoints map[string]Endpoint
	// Successors are the ids of records that were merged into another, by id: a brand's by a brand, and so on. No
	// successor has one itself.
	Successors map[string]string
}

// Resolve is the id that a record has now: its own, or that of the one it was merged into.
func (c Catalog) Resolve(id string) string {
	if successor, isMerged := c.Successors[id]; isMerged {
		return successor
	}
	return id
}
