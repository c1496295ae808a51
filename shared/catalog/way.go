package catalog

// Way records how an institution's patients reach an endpoint if the endpoint's row is not sufficient. The row is not
// sufficient if several institutions share the endpoint, or if the institution or its portal was merged with another
// (docs/adr/0034-ways.md).
type Way struct {
	EndpointID string
	Asked      string // requested brand ID: the brand's own ID, or a merged brand's ID
	BrandID    string // current ID of the brand
	// Portals maps the requested IDs of the portals through which the brand uses the endpoint to the portals' current
	// IDs. If Portals is empty, the way has ended.
	Portals map[string]string
}
