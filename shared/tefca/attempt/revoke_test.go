package attempt_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// ending lists a person's connections and ends them.
type ending struct {
	w     *world
	more  []string // IDs to list in addition to those in the tables
	fails bool
	ended []string
}

func (e *ending) PersonsConnections(ctx context.Context, of org.Tenant, person string) ([]string, error) {
	all, err := e.w.conns.PersonsConnections(ctx, of, person)
	slices.Reverse(all) // The result must not depend on the order of IDs.
	return append(e.more, all...), err
}

func (e *ending) Connection(ctx context.Context, of org.Tenant, id string) (connection.Connection, error) {
	return e.w.conns.Connection(ctx, of, id)
}

func (e *ending) Disconnect(_ context.Context, _ org.Tenant, id string) (connection.Connection, error) {
	if e.fails {
		return connection.Connection{}, errTrouble
	}
	e.ended = append(e.ended, id)
	return connection.Connection{}, nil
}

func TestRevokeEndsActiveConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.located(t, attemptID, "x", "a", "b", "c", "d")
	w.choose(t, attemptID, "a", "b", "c", "d")
	w.look(t, attemptID)
	current := []string{}
	for id, f := range w.facilities(t, attemptID) {
		if id != "a" {
			current = append(current, f.Connected.ConnectionID)
		}
	}
	slices.Sort(current)
	c := w.connection(t, w.facilities(t, attemptID)["a"].Connected.ConnectionID)
	c.Status = connection.Revoked
	expect.NoError(t, w.save(t, c))
	end := &ending{w: w, more: []string{"c0000000-0000-4000-8000-000000000001"}} // since erased
	revoker := attempt.Revoker{Persons: end, Disconnector: end, Issuer: "https://id.example"}
	const maple = "Maple.Aster@tefca.example"
	revoked, err := revoker.Revoke(t.Context(), tenant, maple)
	if expect.NoError(t, err); !slices.Equal(revoked, current) || len(end.ended) != len(current) {
		t.Errorf("revoked are %v, ended %v, want %v", revoked, end.ended, current)
	}
	_, err = revoker.Revoke(t.Context(), org.Tenant{Mode: org.Live, OrgID: tenant.OrgID}, maple)
	refused(t, "live mode", err, fault.Forbidden, "")
	_, err = revoker.Revoke(t.Context(), tenant, "nobody@tefca.example")
	refused(t, "nobody", err, fault.Invalid, "email")
	if nobody, err := revoker.Revoke(t.Context(), tenant, "sorrel.birch@tefca.example"); err != nil || nobody == nil ||
		len(nobody) != 0 {
		t.Errorf("of somebody without connections %v are revoked, %v", nobody, err)
	}
	revoker.Issuer = "https://other.example"
	if strange, err := revoker.Revoke(t.Context(), tenant, maple); err != nil || len(strange) != 0 {
		t.Errorf("of another issuer's patient %v are revoked, %v", strange, err)
	}
	revoker.Issuer = "https://id.example"
	end.fails = true
	if some, err := revoker.Revoke(t.Context(), tenant, maple); !errors.Is(err, errTrouble) {
		t.Errorf("what could not be ended is told as %v, %v", some, err)
	}
}
