// Package listing reads published lists of institutions and converts them into a common form, before they become
// catalogue records (docs/adr/0023-the-catalogue.md). The common form can represent User-access Brands bundles (SMART
// App Launch 2.2, section 8), vendors' R4 Endpoint bundles, Lantern's lists and manually maintained YAML lists. The
// importers use bounded memory.
package listing

import "recordbridge/shared/catalog/record"

// Listing describes an institution in a list.
type Listing struct {
	Key         string       `json:"key"` // key that identifies the listing within its list; stable across reads
	Name        string       `json:"name"`
	Aliases     []string     `json:"aliases,omitempty"`
	Identifiers []Identifier `json:"identifiers,omitempty"` // identifiers other than NPIs
	NPIs        []string     `json:"npis,omitempty"`        // ten digits
	Website     string       `json:"website,omitempty"`
	LogoURI     string       `json:"logo_uri,omitempty"`
	LogoLicense string       `json:"logo_license_uri,omitempty"`
	Description string       `json:"description,omitempty"`
	Category    string       `json:"category,omitempty"`
	PartOf      string       `json:"part_of,omitempty"` // Key of the parent brand
	Hidden      bool         `json:"hidden,omitempty"`

	Locations []record.Location `json:"locations,omitempty"`
	Portals   []Portal          `json:"portals,omitempty"`
	ID        string            `json:"id,omitempty"`     // brand's ID, if a manually maintained list sets one
	Merged    []string          `json:"merged,omitempty"` // IDs of brands that the list merges into this brand
}

// Portal is a site where patients sign in. Two portals with the same key are considered the same portal, even if they
// come from different lists.
type Portal struct {
	Key         string     `json:"key,omitempty"` // if empty, the portal is identified by its endpoints
	ID          string     `json:"id,omitempty"`
	Name        string     `json:"name,omitempty"`
	Website     string     `json:"website,omitempty"`
	LogoURI     string     `json:"logo_uri,omitempty"`
	Description string     `json:"description,omitempty"`
	Endpoints   []Endpoint `json:"endpoints"`
}

// Endpoint is a FHIR server. Two endpoints with the same URL are the same server, even in different lists.
type Endpoint struct {
	Address     string `json:"address"` // URL as written in the list
	ID          string `json:"id,omitempty"`
	Name        string `json:"name,omitempty"`
	FHIRVersion string `json:"fhir_version,omitempty"` // FHIR version; empty if not in the list
	Platform    string `json:"platform,omitempty"`     // platform type, if stated in the list
	Off         bool   `json:"off,omitempty"`          // whether the list marks the endpoint as not in use
}

// Identifier is a business identifier (FHIR R4, Identifier). Two listings that share a business identifier describe the
// same institution.
type Identifier struct {
	System string `json:"system"`
	Value  string `json:"value"`
}
