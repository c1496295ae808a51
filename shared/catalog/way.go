package catalog

// Way records how one institution's patients reach an endpoint if the endpoint's row is not sufficient, because several
// institutions share the endpoint or because its institution or portal was merged with another (docs/adr/0034-ways.md).
type Way struct {
	EndpointID string
	Asked      string // requested brand ID: the brand's own, or one merged into it
	BrandID    string // current ID of the brand
	// Portals maps portal IDs that may be requested to the current IDs of the portals through which the brand uses the
	// endpoint. If it is empty, the way has ended.
	Portals map[string]string
}
