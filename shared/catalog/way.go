package catalog

// Way records the portals through which an institution's patients reach an endpoint. A way is needed if several
// institutions share the endpoint, or if the institution or its portal was merged with another (docs/adr/0034-ways.md).
type Way struct {
	EndpointID string
	Asked      string // requested brand ID, which may be a merged brand's ID
	BrandID    string // the brand's current ID
	// Portals maps requested portal IDs to current portal IDs. It contains the portals through which the brand's
	// patients reach the endpoint. If Portals is empty, the way is no longer valid.
	Portals map[string]string
}
