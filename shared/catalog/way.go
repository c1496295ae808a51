package catalog

// Way records the portals through which an institution's patients reach an endpoint. A way is needed if several
// institutions share the endpoint, or if the institution or its portal was merged with another (docs/adr/0034-ways.md).
type Way struct {
	EndpointID string
	Asked      string // requested brand ID; may be that of a merged brand
	BrandID    string // the brand's current ID
	// Portals maps the requested IDs of the portals through which the brand's patients reach the endpoint to their
	// current IDs. If Portals is empty, the Way is no longer valid.
	Portals map[string]string
}
