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
	// PersonsConnections lists them all, current or not, by connection.Connection's PersonKey.
	PersonsConnections(ctx context.Context, tenant org.Tenant, person string) ([]string, error)
	// Connection reads a connection, consistently; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Disconnector ends connections (disconnect.Disconnector).
type Disconnector interface {
	Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// Revoker ends the connections of a synthetic patient, so that a test begins anew. Every field is needed.
type Revoker struct {
	Persons      Persons
	Disconnector Disconnector
	Issuer       string // of the simulated identity provider
}

// Revoke ends all current connections that a tenant has of the synthetic patient of an e-mail address, whatever
// their external ids, and returns their ids in order. The error is fault.Forbidden in live mode, and fault.Invalid
// for an address of nobody.
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
