package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Portals stores endpoints, the links between brands and endpoints (catalog.Way), and client registrations at the
// endpoints.
type Portals Control

// Clients stores the authentication settings of the service's clients.
type Clients Control

// Access stores endpoints, registrations, and the organisations that use them.
type Access struct {
	Organisations
	Portals
}

// NewAccess returns an Access that uses the Control table.
func NewAccess(control Control) Access {
	return Access{Organisations: Organisations(control), Portals: Portals(control)}
}

// Endpoint implements flow.Catalog.
func (s Portals) Endpoint(ctx context.Context, id string) (catalog.Endpoint, error) {
	row, err := get(ctx, s.DB, s.Table, endpointKey(id))
	if err != nil {
		return catalog.Endpoint{}, err
	}
	return catalog.Endpoint{
		ID: id, BrandID: row.text("brand_id"), PortalID: row.text("portal_id"), Name: row.text("name"),
		FHIRBase: row.text("fhir_base"), PlatformType: row.text("platform_type"), FHIRVersion: row.text("fhir_version"),
		Mode: row.text("mode"), Status: catalog.EndpointStatus(row.text("status")), Overrides: row.text("overrides"),
		Pins: catalog.Pins{
			Issuer: row.text("pin_issuer"), Authorization: row.text("pin_authorization"), Token: row.text("pin_token"),
			Keys: row.text("pin_keys"), Revocation: row.text("pin_revocation"), Introspection: row.text("pin_introspection"),
		},
		Published: row.flag("published"), Withdrawn: row.flag("withdrawn"), OwnRegistration: row.flag("own_registration"),
		Rev: row.int("rev"),
	}, nil
}

// Endpoints returns the IDs of all operator-created endpoints.
func (s Portals) Endpoints(ctx context.Context) ([]string, error) {
	rows, err := list(ctx, s.DB, s.Table, endpointsPartition, "")
	if err != nil {
		return nil, err
	}
	found := make([]string, 0, len(rows))
	for _, row := range rows {
		found = append(found, row.text("sk"))
	}
	return found, nil
}

// Registration implements flow.Catalog. The tenant's own registration takes precedence over the shared registration.
// For each owner, the endpoint's registration takes precedence over the platform's. The platform's registration is not
// used if e.OwnRegistration is set.
func (s Portals) Registration(ctx context.Context, tenant org.Tenant,
	e catalog.Endpoint,
) (catalog.Registration, error) {
	places := []catalog.Place{{EndpointID: e.ID}}
	if !e.OwnRegistration {
		places = append(places, catalog.Place{Mode: e.Mode, PlatformType: e.PlatformType})
	}
	for _, owner := range []org.Tenant{tenant, {}} {
		for _, place := range places {
			found, err := s.RegistrationAt(ctx, owner, place)
			if !errors.Is(err, fault.NotFound) {
				return found, err
			}
		}
	}
	return catalog.Registration{}, fault.Missing("No client is registered.")
}

// RegistrationAt reads the registration stored by SaveRegistration for exactly this place and owner. A zero tenant
// selects the shared registration. RegistrationAt returns fault.NotFound if no such registration exists. To look up the
// registration in effect at an endpoint, use Registration.
func (s Portals) RegistrationAt(ctx context.Context, owner org.Tenant,
	place catalog.Place,
) (catalog.Registration, error) {
	row, err := get(ctx, s.DB, s.Table, registrationKey(place, ownerKey(owner)))
	if err != nil {
		return catalog.Registration{}, err
	}
	return catalog.Registration{
		Place: place, ClientID: row.text("client_id"), AuthID: row.text("auth_id"), Scope: row.text("scope"),
		Callback: row.text("callback"),
		Rev:      row.int("rev"),
	}, nil
}

// ClientAuth reads a client's authentication settings for the tenant's connections. ClientAuth returns the tenant's own
// settings if they exist, or the shared settings otherwise.
func (s Clients) ClientAuth(ctx context.Context, tenant org.Tenant, id string) (catalog.ClientAuth, error) {
	own, err := s.ClientAuthOf(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return s.ClientAuthOf(ctx, org.Tenant{}, id)
	}
	return own, err
}

// ClientAuthOf reads the authentication settings of a client with exactly this owner, as stored by SaveClientAuth. A
// zero tenant selects the shared settings. ClientAuthOf returns fault.NotFound if no such settings exist.
func (s Clients) ClientAuthOf(ctx context.Context, owner org.Tenant, id string) (catalog.ClientAuth, error) {
	row, err := get(ctx, s.DB, s.Table, clientAuthKey(id, ownerKey(owner)))
	if err != nil {
		return catalog.ClientAuth{}, err
	}
	auth := catalog.ClientAuth{
		ID: id, Method: catalog.AuthMethod(row.text("method")), Algorithm: row.text("algorithm"), KeyID: row.text("key_id"),
		Secret: row.bytes("secret"), Rev: row.int("rev"),
	}
	return auth, row.json("origins", &auth.Origins)
}

// SaveEndpoint creates an endpoint and its list entry if e.Rev is 0; otherwise it replaces revision e.Rev. It returns
// fault.Conflict if the stored row differs.
func (s Portals) SaveEndpoint(ctx context.Context, e catalog.Endpoint) error {
	row := endpointItem(e)
	if e.Rev > 0 {
		return replace(ctx, s.DB, s.Table, row, e.Rev)
	}
	row.setInt("rev", 1)
	return transact(ctx, s.DB, putNew(s.Table, row), putNew(s.Table, newItem(key{endpointsPartition, e.ID})))
}

// CreateEndpoints stores up to 100 new endpoints, all or none. It returns fault.Conflict if any endpoint already
// exists. CreateEndpoints does not add the endpoints to the operators' list, which is a single partition, because the
// catalogue already lists them.
func (s Portals) CreateEndpoints(ctx context.Context, all []catalog.Endpoint) error {
	writes := make([]types.TransactWriteItem, 0, len(all))
	for _, e := range all {
		row := endpointItem(e)
		row.setInt("rev", 1)
		writes = append(writes, putNew(s.Table, row))
	}
	return transact(ctx, s.DB, writes...)
}

func endpointItem(e catalog.Endpoint) item {
	row := newItem(endpointKey(e.ID))
	row.setText("brand_id", e.BrandID)
	row.setText("portal_id", e.PortalID)
	row.setText("name", e.Name)
	row.setText("fhir_base", e.FHIRBase)
	row.setText("platform_type", e.PlatformType)
	row.setText("fhir_version", e.FHIRVersion)
	row.setText("mode", e.Mode)
	row.setText("status", string(e.Status))
	row.setText("overrides", e.Overrides)
	row.setText("pin_issuer", e.Pins.Issuer)
	row.setText("pin_authorization", e.Pins.Authorization)
	row.setText("pin_token", e.Pins.Token)
	row.setText("pin_keys", e.Pins.Keys)
	row.setText("pin_revocation", e.Pins.Revocation)
	row.setText("pin_introspection", e.Pins.Introspection)
	row.setFlag("published", e.Published)
	row.setFlag("withdrawn", e.Withdrawn)
	row.setFlag("own_registration", e.OwnRegistration)
	return row
}

// SaveRegistration stores the tenant's client registration for r.Place. If the tenant is zero, all tenants share the
// registration. It creates the registration if r.Rev is 0; otherwise it replaces revision r.Rev. It returns
// fault.Conflict if the stored row differs.
func (s Portals) SaveRegistration(ctx context.Context, tenant org.Tenant, r catalog.Registration) error {
	row := newItem(registrationKey(r.Place, ownerKey(tenant)))
	row.setText("client_id", r.ClientID)
	row.setText("auth_id", r.AuthID)
	row.setText("scope", r.Scope)
	row.setText("callback", r.Callback)
	return save(ctx, s.DB, s.Table, row, r.Rev, registrationListed(tenant, r.Place))
}

// RemoveRegistration removes revision r.Rev of a registration with exactly this owner. It returns fault.Conflict if the
// stored revision differs.
func (s Portals) RemoveRegistration(ctx context.Context, owner org.Tenant, r catalog.Registration) error {
	return transact(ctx, s.DB,
		removal(s.Table, registrationKey(r.Place, ownerKey(owner)), r.Rev),
		unlist(s.Table, registrationListedKey(owner, r.Place)))
}

// RemoveEndpoint removes revision e.Rev of an endpoint. It returns fault.Conflict if the stored revision differs.
func (s Portals) RemoveEndpoint(ctx context.Context, e catalog.Endpoint) error {
	return transact(ctx, s.DB, removal(s.Table, endpointKey(e.ID), e.Rev), unlist(s.Table, key{endpointsPartition, e.ID}))
}

// RemoveClientAuth removes revision a.Rev of a client's authentication settings. The client must have exactly this
// owner. RemoveClientAuth returns fault.Conflict if the stored revision differs.
func (s Clients) RemoveClientAuth(ctx context.Context, owner org.Tenant, a catalog.ClientAuth) error {
	return transact(ctx, s.DB, removal(s.Table, clientAuthKey(a.ID, ownerKey(owner)), a.Rev),
		unlist(s.Table, clientListedKey(owner, a.ID)))
}

// SaveClientAuth stores a client's authentication settings. If the tenant is zero, all tenants share the settings.
// SaveClientAuth creates the settings if a.Rev is 0; otherwise it replaces revision a.Rev. It returns fault.Conflict if
// the stored row differs.
func (s Clients) SaveClientAuth(ctx context.Context, tenant org.Tenant, a catalog.ClientAuth) error {
	row := newItem(clientAuthKey(a.ID, ownerKey(tenant)))
	row.setText("method", string(a.Method))
	row.setText("algorithm", a.Algorithm)
	row.setText("key_id", a.KeyID)
	row.setBytes("secret", a.Secret)
	if len(a.Origins) > 0 {
		if err := row.setJSON("origins", a.Origins); err != nil {
			return err
		}
	}
	return save(ctx, s.DB, s.Table, row, a.Rev, clientListed(tenant, a.ID))
}

// save creates row and its list entry if rev is 0; otherwise it replaces revision rev of row.
func save(ctx context.Context, db DB, table string, row item, rev int64, listing item) error {
	if rev > 0 {
		return replace(ctx, db, table, row, rev)
	}
	row.setInt("rev", 1)
	return transact(ctx, db, putNew(table, row), putNew(table, listing))
}

func ownerKey(tenant org.Tenant) string {
	if tenant == (org.Tenant{}) {
		return everyone
	}
	return tenant.Key()
}
