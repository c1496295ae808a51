// Package view renders a connection as JSON for the connection's organisation (docs/openapi.yaml). It is a separate
// package because several endpoints return the record and package connection must not depend on JSON.
package view

import (
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/timestamp"
)

// Connection is a connection's JSON record (docs/openapi.yaml, Connection).
type Connection struct {
	Kind             Kind              `json:"kind"`
	ID               string            `json:"org_connection_id"`
	OrgID            string            `json:"org_id"`
	BrandID          string            `json:"catalog_brand_id,omitempty"`
	PortalID         string            `json:"catalog_portal_id,omitempty"`
	EndpointID       string            `json:"catalog_endpoint_id,omitempty"`
	DirectoryID      string            `json:"tefca_directory_id,omitempty"`
	PlatformType     string            `json:"platform_type"`
	APIMode          org.Mode          `json:"api_mode"`
	Status           connection.Status `json:"status"`
	Scope            string            `json:"scope,omitempty"`
	ConsentExpiresAt string            `json:"consent_expires_at,omitempty"` // RFC 3339
}

// Kind names the variant of a connection's record.
type Kind string

const (
	portal Kind = "portal" // a connection through a portal of the catalogue
	tefca  Kind = "tefca"  // a connection with a facility of a TEFCA network
)

// Of returns the JSON record for c.
func Of(c connection.Connection) Connection {
	kind := portal
	if c.DirectoryID != "" {
		kind = tefca
	}
	return Connection{
		Kind: kind,
		ID:   c.ID, OrgID: c.Tenant.OrgID, BrandID: c.BrandID, PortalID: c.PortalID, EndpointID: c.EndpointID,
		DirectoryID:  c.DirectoryID,
		PlatformType: c.PlatformType, APIMode: c.Tenant.Mode, Status: c.Status, Scope: c.Scope,
		ConsentExpiresAt: timestamp.Of(c.ConsentExpiresAt),
	}
}
