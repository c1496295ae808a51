package catalog

// Way records how one institution's patients reach an endpoint if the endpoint's row is not sufficient. A row is not
// sufficient if several institutions share the endpoint, or if the institution or its portal was merged with another
// (docs/adr/0034-ways.md).
type Way struct {
	EndpointID string
	Asked      string // requested brand ID: the brand's own ID, or that of a merged brand
	BrandID    string // current ID of the brand
	// Portals maps portal IDs that may be requested to the current IDs of the portals through which the brand uses the
	// endpoint. If Portals is empty, the way has ended.
	Portals map[string]string
}
