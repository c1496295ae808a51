package catalog

// Way records how the patients of one institution reach an endpoint if the endpoint's row is not sufficient: several
// institutions share the endpoint, or its institution or portal was merged with another (docs/adr/0034-ways.md).
type Way struct {
	EndpointID string
	Asked      string // the requested brand id: the brand's own, or one merged into it
	BrandID    string // the brand's current id
	// Portals maps portal ids that may be requested to the current ids of the portals through which the brand has the
	// endpoint. If it is empty, the way has ended.
	Portals map[string]string
}
