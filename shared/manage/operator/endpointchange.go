package operator

import (
	"context"
	"fmt"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// EndpointChange describes a change to an endpoint. Nil fields leave the endpoint unchanged.
type EndpointChange struct {
	Name      *string // institution's name, which patients see
	Overrides *string // overrides of the platform's profile, as YAML; empty to remove them
}

// Change changes an endpoint's name and overrides in a single write. It returns fault.Invalid, fault.NotFound or
// fault.Conflict on failure.
func (o Endpoints) Change(ctx context.Context, id string, change EndpointChange) (catalog.Endpoint, error) {
	action := "endpoint.renamed"
	if change.Overrides != nil {
		action = "endpoint.overridden"
	}
	changed, err := o.save(ctx, id, action, func(e *catalog.Endpoint) error {
		if change.Name != nil {
			if err := checkName(*change.Name); err != nil {
				return err
			}
			e.Name = *change.Name
		}
		if change.Overrides == nil {
			return nil
		}
		e.Overrides = *change.Overrides
		_, err := profileOf(ctx, o.servers, *e)
		return err
	})
	if err == nil && change.Name != nil && change.Overrides != nil {
		err = o.by.record(ctx, org.Tenant{}, "endpoint.renamed", id)
	}
	return changed, err
}

// Disable prevents new connection and reconnection attempts at an endpoint. Sign-ins in progress can finish, and
// existing connections continue to work. Disable returns fault.NotFound or fault.Conflict on failure.
func (o Endpoints) Disable(ctx context.Context, id string) error {
	return o.setStatus(ctx, id, catalog.EndpointSuspended, "endpoint.disabled")
}

// Enable lets patients connect at an endpoint again. It returns fault.NotFound or fault.Conflict on failure.
func (o Endpoints) Enable(ctx context.Context, id string) error {
	return o.setStatus(ctx, id, catalog.EndpointActive, "endpoint.enabled")
}

// Remove removes a disabled endpoint. The endpoint must have no registration and no connections, regardless of their
// status. Remove scans all connections in the endpoint's mode. Remove returns fault.NotFound or fault.Conflict on
// failure.
func (o Endpoints) Remove(ctx context.Context, id string) error {
	e, err := findEndpoint(ctx, o.rows, id)
	if err != nil {
		return err
	}
	if e.Status != catalog.EndpointSuspended {
		return refused("The endpoint is not disabled. Run endpoint disable, then wait an hour for open sign-ins to " +
			"end.")
	}
	registered, err := o.rows.Registrations(ctx)
	if err != nil {
		return fmt.Errorf("list registrations: %w", err)
	}
	for _, r := range registered {
		if r.Registration.Place.EndpointID == id {
			return refused(fmt.Sprintf("The endpoint has a registration of %s. Run registration remove first.",
				ownerName(r.Owner)))
		}
	}
	tenants, err := o.rows.Tenants(ctx)
	if err != nil {
		return fmt.Errorf("list organisations: %w", err)
	}
	for _, tenant := range tenants {
		if string(tenant.Mode) != e.Mode {
			continue
		}
		connected, err := o.connections.HasConnectionsAt(ctx, tenant, id)
		if err != nil {
			return fmt.Errorf("look for connections: %w", err)
		}
		if connected {
			return refused(fmt.Sprintf("The endpoint has connections of %s, so it can't be removed. While it is "+
				"disabled, no patients can connect to it.", ownerName(tenant)))
		}
	}
	if err := o.rows.RemoveEndpoint(ctx, e); err != nil {
		return changed("endpoint", err)
	}
	return o.by.record(ctx, org.Tenant{}, "endpoint.removed", id)
}

func (o Endpoints) setStatus(ctx context.Context, id string, status catalog.EndpointStatus, action string) error {
	_, err := o.save(ctx, id, action, func(e *catalog.Endpoint) error {
		if e.Status == status && !e.Withdrawn {
			return refused(fmt.Sprintf("The endpoint is already %s.", status))
		}
		e.Status, e.Withdrawn = status, false
		return nil
	})
	return err
}

func (o Endpoints) save(ctx context.Context, id, action string,
	change func(*catalog.Endpoint) error,
) (catalog.Endpoint, error) {
	e, err := findEndpoint(ctx, o.rows, id)
	if err != nil {
		return catalog.Endpoint{}, err
	}
	if err := change(&e); err != nil {
		return catalog.Endpoint{}, err
	}
	if err := o.rows.SaveEndpoint(ctx, e); err != nil {
		return catalog.Endpoint{}, changed("endpoint", err)
	}
	return e, o.by.record(ctx, org.Tenant{}, action, id)
}

func checkName(name string) error {
	if strings.TrimSpace(name) == "" {
		return fault.BadRequest("An endpoint needs the institution's name, which patients see.").About("name")
	}
	return nil
}
