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

// Persons finds the connections of a person (store.Connections).
type Persons interface {
	// PersonsConnections lists all connections of a person, current or not, by connection.Connection's PersonKey.
	PersonsConnections(ctx context.Context, tenant org.Tenant, person string) ([]string, error)
	// Connection returns a connection with a consistent read; fault.NotFound if it does not exist.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Disconnector ends connections (disconnect.Disconnector).
type Disconnector interface {
	Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Revoker ends the connections of a synthetic patient, so that a test can start over. All fields are required.
type Revoker struct {
	Persons      Persons
	Disconnector Disconnector
	Issuer       string // the simulated identity provider's issuer
}

// Revoke ends all current connections that a tenant has for the synthetic patient with an e-mail address, whatever
// their external ids, and returns their sorted ids. The error is fault.Forbidden in live mode, and fault.Invalid if no
// patient has the address.
func (r Revoker) Revoke(ctx context.Context, tenant org.Tenant, email string) ([]string, error) {
	if tenant.Mode != org.Test {
		return nil, fault.New(fault.Forbidden, fault.CodeForbiddenMode, "This works with test credentials only.")
	}
	patient, ok := people.Named(email)
	if !ok {
		return nil,
			fault.BadRequest("email must be the address of one of the synthetic patients of TEFCA mode.").About("email")
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
