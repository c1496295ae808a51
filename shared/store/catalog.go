package store

import (
	"context"
	"errors"

	"recordbridge/shared/catalog"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// Endpoint implements flow.Catalog.
func (s Control) Endpoint(ctx context.Context, id string) (catalog.Endpoint, error) {
	row, err := get(ctx, s.DB, s.Table, endpointKey(id))
	if err != nil {
		return catalog.Endpoint{}, err
	}
	return catalog.Endpoint{
		ID: id, BrandID: row.text("brand_id"), PortalID: row.text("portal_id"), Name: row.text("name"),
		FHIRBase: row.text("fhir_base"), PlatformType: row.text("platform_type"), FHIRVersion: row.text("fhir_version"),
		Mode: row.text("mode"), Status: catalog.EndpointStatus(row.text("status")), Rev: row.int("rev"),
	}, nil
}

// Registration implements flow.Catalog: the tenant's own registration, else the one for everybody.
func (s Control) Registration(ctx context.Context, tenant org.Tenant, endpointID string) (catalog.Registration, error) {
	row, err := get(ctx, s.DB, s.Table, registrationKey(endpointID, tenant.Key()))
	if errors.Is(err, fault.NotFound) {
		row, err = get(ctx, s.DB, s.Table, registrationKey(endpointID, everyone))
	}
	if err != nil {
		return catalog.Registration{}, err
	}
	return catalog.Registration{
		EndpointID: endpointID, ClientID: row.text("client_id"), Scope: row.text("scope"), Rev: row.int("rev"),
	}, nil
}

// CreateEndpoint stores a new endpoint.
func (s Control) CreateEndpoint(ctx context.Context, e catalog.Endpoint) error {
	row := newItem(endpointKey(e.ID))
	row.setText("brand_id", e.BrandID)
	row.setText("portal_id", e.PortalID)
	row.setText("name", e.Name)
	row.setText("fhir_base", e.FHIRBase)
	row.setText("platform_type", e.PlatformType)
	row.setText("fhir_version", e.FHIRVersion)
	row.setText("mode", e.Mode)
	row.setText("status", string(e.Status))
	row.setInt("rev", 1)
	return create(ctx, s.DB, s.Table, row)
}

// CreateRegistration stores how our client is registered at an endpoint for every tenant.
func (s Control) CreateRegistration(ctx context.Context, r catalog.Registration) error {
	row := newItem(registrationKey(r.EndpointID, everyone))
	row.setText("client_id", r.ClientID)
	row.setText("scope", r.Scope)
	row.setInt("rev", 1)
	return create(ctx, s.DB, s.Table, row)
}
