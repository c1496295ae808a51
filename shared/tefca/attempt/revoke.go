package attempt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Persons looks up a person's connections; store.Connections implements it.
type Persons interface {
	// PersonsConnections returns the IDs of all active or ended connections with the given PersonKey.
	PersonsConnections(ctx context.Context, tenant org.Tenant, person string) ([]string, error)
	// Connection returns a connection, using a consistent read. It returns fault.NotFound if the connection does not
	// exist.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Disconnector ends connections; disconnect.Disconnector implements it.
type Disconnector interface {
	Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Revoker ends a synthetic patient's connections so that a test can start over. All fields are required.
type Revoker struct {
	Persons      Persons
	Disconnector Disconnector
	Issuer       string // issuer of the simulated identity provider
}

// Revoke ends a tenant's active connections of the synthetic patient with the given email address, under any external
// ID. It returns the ended connections' sorted IDs. The error is fault.Forbidden in live mode, and fault.Invalid for
// any other address.
func (r Revoker) Revoke(ctx context.Context, tenant org.Tenant, email string) ([]string, error) {
	if tenant.Mode != org.Test {
		return nil, fault.New(fault.Forbidden, fault.CodeForbiddenMode, "This works only with test credentials.")
	}
	patient, ok := people.Named(email)
	if !ok {
		return nil,
			fault.BadRequest("email must be the address of a synthetic TEFCA patient.").About("email")
	}
	all, err := r.Persons.PersonsConnections(ctx, tenant, personKey(r.Issuer, patient.Subject))
	if err != nil {
		return nil, fmt.Errorf("find the patient's connections: %w", err)
	}
	revoked := []string{}
	for _, id := range all {
		c, err := r.Persons.Connection(ctx, tenant, id)
		if errors.Is(err, fault.NotFound) || err == nil && c.Status != connection.Authorized {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read connection: %w", err)
		}
		if _, err := r.Disconnector.Disconnect(ctx, tenant, id); err != nil {
			return nil, err
		}
		revoked = append(revoked, id)
	}
	slices.Sort(revoked)
	return revoked, nil
}
