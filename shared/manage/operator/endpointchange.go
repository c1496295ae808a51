package operator

import (
	"context"
	"fmt"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Override replaces an endpoint's overrides of its platform's profile; an empty text removes them. Errors are
// fault.Invalid, fault.NotFound and fault.Conflict.
func (o Endpoints) Override(ctx context.Context, id, overrides string) error {
	_, err := o.save(ctx, id, "endpoint.overridden", func(e *catalog.Endpoint) error {
		e.Overrides = overrides
		_, err := profileOf(ctx, o.servers, *e)
		return err
	})
	return err
}

// Rename changes the name that patients see. Errors are fault.Invalid, fault.NotFound and fault.Conflict.
func (o Endpoints) Rename(ctx context.Context, id, name string) (catalog.Endpoint, error) {
	return o.save(ctx, id, "endpoint.renamed", func(e *catalog.Endpoint) error {
		e.Name = name
		return checkName(name)
	})
}

// Disable stops patients from starting to connect or reconnect at an endpoint. Sign-ins under way can finish, and
// existing connections keep working. Errors are fault.NotFound and fault.Conflict.
func (o Endpoints) Disable(ctx context.Context, id string) error {
	return o.setStatus(ctx, id, catalog.EndpointSuspended, "endpoint.disabled")
}

// Enable lets patients connect again. Errors are fault.NotFound and fault.Conflict.
func (o Endpoints) Enable(ctx context.Context, id string) error {
	return o.setStatus(ctx, id, catalog.EndpointActive, "endpoint.enabled")
}

// Remove removes a disabled endpoint that has neither a registration of its own nor any connection, whatever its
// status. It scans all connections of its mode. Errors are fault.NotFound and fault.Conflict.
func (o Endpoints) Remove(ctx context.Context, id string) error {
	e, err := findEndpoint(ctx, o.rows, id)
	if err != nil {
		return err
	}
	if e.Status != catalog.EndpointSuspended {
		return refused("The endpoint is not disabled. Disable it first, and wait an hour, so that nobody is signing in " +
			"there: endpoint disable.")
	}
	registered, err := o.rows.Registrations(ctx)
	if err != nil {
		return fmt.Errorf("list registrations: %w", err)
	}
	for _, r := range registered {
		if r.Registration.Place.EndpointID == id {
			return refused(fmt.Sprintf("The endpoint has a registration of %s. Remove that first: registration remove.",
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
			return refused(fmt.Sprintf("The endpoint has connections of %s, so it has to stay. While it is disabled, nobody "+
				"connects there.", ownerName(tenant)))
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
			return refused(fmt.Sprintf("The endpoint is %s already.", status))
		}
		e.Status, e.Withdrawn = status, false
		return nil
	})
	return err
}

// save reads, changes and stores an endpoint, and records the action.
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
