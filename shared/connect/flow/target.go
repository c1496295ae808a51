package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// target holds the endpoint at which the patient signs in and, for a reconnect, the connection to renew.
type target struct {
	endpoint   catalog.Endpoint
	connection string // ID of the connection to reconnect; empty for a new connection
	ended      string // reason for the connection's end; empty if active
}

// target determines the endpoint at which the patient signs in. For a reconnect, target returns the connection's
// endpoint along with the brand and portal under which the connection was created.
func (s Preparation) target(ctx context.Context, r Request) (target, error) {
	if r.Reconnect == "" {
		endpoint, err := s.offered(ctx, r.Caller.Tenant, r.EndpointID)
		if err != nil {
			return target{}, err
		}
		endpoint, err = s.chosen(ctx, endpoint, r.BrandID, r.PortalID)
		return target{endpoint: endpoint}, err
	}
	conn, err := s.connection(ctx, r.Caller.Tenant, r.Reconnect)
	if err != nil {
		return target{}, err
	}
	endpoint, err := s.offered(ctx, conn.Tenant, conn.EndpointID)
	if errors.Is(err, fault.Invalid) {
		return target{},
			fault.BadRequest(
				"This connection's institution can't be connected at present.").
				About("reconnect_org_connection_id").Because(err)
	}
	if err != nil {
		return target{}, err
	}
	if err := s.matches(ctx, r, conn, endpoint); err != nil {
		return target{}, err
	}
	endpoint.BrandID, endpoint.PortalID = conn.BrandID, conn.PortalID
	return target{endpoint: endpoint, connection: conn.ID, ended: conn.Refresh.Ended}, nil
}

// connection reads a connection that may be reconnected. It returns the same error for a malformed or unknown ID,
// another tenant's connection or a TEFCA connection.
func (s Preparation) connection(ctx context.Context, tenant org.Tenant, asked string) (connection.Connection, error) {
	id, ok := ids.ParseUUID(asked)
	if !ok {
		return connection.Connection{}, failed(causeUnknown, nil)
	}
	conn, err := s.Connections.Connection(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return connection.Connection{}, failed(causeUnknown, err)
	}
	if err != nil {
		return connection.Connection{}, fmt.Errorf("read connection: %w", err)
	}
	if conn.PlatformType == tefca || conn.EndpointID == "" {
		return connection.Connection{}, failed(causeUnknown, nil)
	}
	return conn, nil
}

// tefca is the platform type of connections created through an identity service. TEFCA connections have no endpoint.
const tefca = "tefca"

// offered returns an endpoint if the tenant's patients may use it.
func (s Preparation) offered(ctx context.Context, tenant org.Tenant, asked string) (catalog.Endpoint, error) {
	id, ok := ids.ParseUUID(asked)
	if !ok {
		return catalog.Endpoint{}, fault.BadRequest("endpoint_id is required and must be a UUID.").About("endpoint_id")
	}
	endpoint, err := s.Catalog.Endpoint(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return catalog.Endpoint{}, catalog.MissingEndpoint()
	}
	if err != nil {
		return catalog.Endpoint{}, fmt.Errorf("read endpoint: %w", err)
	}
	if endpoint.Status != catalog.EndpointActive || endpoint.Mode != string(tenant.Mode) {
		return catalog.Endpoint{}, catalog.MissingEndpoint()
	}
	return endpoint, nil
}

// chosen returns the endpoint with the institution that the patient chose: either the one in the endpoint's row or
// another that the catalogue lists for the endpoint. chosen replaces merged IDs with the surviving IDs.
func (s Preparation) chosen(ctx context.Context, endpoint catalog.Endpoint, brandID,
	portalID string,
) (catalog.Endpoint, error) {
	brand, portal := cmp.Or(strings.ToLower(brandID), endpoint.BrandID),
		cmp.Or(strings.ToLower(portalID), endpoint.PortalID)
	if brand == "" || portal == "" {
		return endpoint,
			fault.BadRequest("Several institutions share this endpoint: brand_id and portal_id are required.").About("brand_id")
	}
	if brand == endpoint.BrandID && portal == endpoint.PortalID {
		return endpoint, nil
	}
	if _, ok := ids.ParseUUID(brand); !ok {
		return endpoint, wrongInstitution()
	}
	way, err := s.Catalog.Way(ctx, endpoint.ID, brand)
	if errors.Is(err, fault.NotFound) {
		return endpoint, wrongInstitution()
	}
	if err != nil {
		return endpoint, fmt.Errorf("read whether the brand has the endpoint: %w", err)
	}
	endpoint.BrandID, endpoint.PortalID = way.BrandID, way.Portals[portal]
	if endpoint.PortalID == "" {
		return endpoint, wrongInstitution()
	}
	return endpoint, nil
}

func wrongInstitution() error {
	return fault.BadRequest("brand_id or portal_id does not belong to endpoint_id.").About("brand_id")
}

// matches checks that the IDs in a request equal the connection's IDs or now denote the same institution. Either
// institution may have been merged since its IDs were recorded.
func (s Preparation) matches(ctx context.Context, r Request, conn connection.Connection,
	endpoint catalog.Endpoint,
) error {
	if !isOrNone(r.EndpointID, conn.EndpointID) {
		return fault.BadRequest("endpoint_id does not belong to reconnect_org_connection_id.").About("endpoint_id")
	}
	if isOrNone(r.BrandID, conn.BrandID) && isOrNone(r.PortalID, conn.PortalID) {
		return nil
	}
	asked, err := s.chosen(ctx, endpoint, cmp.Or(r.BrandID, conn.BrandID), cmp.Or(r.PortalID, conn.PortalID))
	if err != nil {
		return err
	}
	own, err := s.chosen(ctx, endpoint, conn.BrandID, conn.PortalID)
	if err != nil {
		return err
	}
	if asked.BrandID != own.BrandID || asked.PortalID != own.PortalID {
		return wrongInstitution()
	}
	return nil
}

// isOrNone reports whether a UUID is empty or equals the expected UUID, ignoring case.
func isOrNone(given, expected string) bool { return given == "" || strings.EqualFold(given, expected) }
