package catalog

// Way is how the patients of one institution come to an endpoint whose row does not tell: one that several institutions
// share, or whose institution or portal was merged with another (docs/adr/0034-ways.md).
type Way struct {
	EndpointID string
	Asked      string // the brand's id as it may be asked for: its own, or that of a brand that was merged into it
	BrandID    string // that it has now
	// Portals are the portals through which the brand has the endpoint: from an id that may be asked for to the one that
	// it has now. Without any the way has ended.
	Portals map[string]string
}
