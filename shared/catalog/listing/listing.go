// Package listing owns what published lists say of institutions, before the catalogue makes records of it
// (docs/adr/0023-the-catalogue.md): one form for the User-access Brands bundle (SMART App Launch 2.2, section 8),
// vendors' R4 Endpoint bundles, Lantern's lists and hand-kept YAML, and the importers that read them in bounded memory.
package listing

import "recordbridge/shared/catalog/record"

// Listing is what one list says of one institution.
type Listing struct {
	Key         string       `json:"key"` // names it in its list, the same at every reading
	Name        string       `json:"name"`
	Aliases     []string     `json:"aliases,omitempty"`
	Identifiers []Identifier `json:"identifiers,omitempty"` // other than NPIs
	NPIs        []string     `json:"npis,omitempty"`        // ten digits
	Website     string       `json:"website,omitempty"`
	LogoURI     string       `json:"logo_uri,omitempty"`
	LogoLicense string       `json:"logo_license_uri,omitempty"`
	Description string       `json:"description,omitempty"`
	Category    string       `json:"category,omitempty"`
	PartOf      string       `json:"part_of,omitempty"` // Key of the brand above it
	Hidden      bool         `json:"hidden,omitempty"`

	Locations []record.Location `json:"locations,omitempty"`
	Portals   []Portal          `json:"portals,omitempty"`
	ID        string            `json:"id,omitempty"`     // of the brand, where a hand-kept list chooses it
	Merged    []string          `json:"merged,omitempty"` // ids of brands that a hand-kept list merges into this one
}

// Portal is where its patients sign in. Portals with the same key, in whichever list, are one.
type Portal struct {
	Key         string     `json:"key,omitempty"` // empty: named by its endpoints
	ID          string     `json:"id,omitempty"`
	Name        string     `json:"name,omitempty"`
	Website     string     `json:"website,omitempty"`
	LogoURI     string     `json:"logo_uri,omitempty"`
	Description string     `json:"description,omitempty"`
	Endpoints   []Endpoint `json:"endpoints"`
}

// Endpoint is a FHIR server. Those with the same address, in whichever list, are one.
type Endpoint struct {
	Address     string `json:"address"` // as the list has it
	ID          string `json:"id,omitempty"`
	Name        string `json:"name,omitempty"`
	FHIRVersion string `json:"fhir_version,omitempty"` // empty where the list does not say
	Platform    string `json:"platform,omitempty"`     // a platform type, where the list knows it
	Off         bool   `json:"off,omitempty"`          // its list says that it is not in use
}

// Identifier is a business identifier (FHIR R4, Identifier): two listings that share one are the same institution.
type Identifier struct {
	System string `json:"system"`
	Value  string `json:"value"`
}
