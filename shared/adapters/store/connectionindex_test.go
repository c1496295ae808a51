package store_test

import (
	"testing"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/webhook"
)

// wantConnectionIn checks that exactly the wanted values list the only connection.
func (s stores) wantConnectionIn(t *testing.T, want map[string]string) {
	t.Helper()
	for by, values := range map[string][]string{
		connection.ByStatus: {"authorized", "revoked", "rejected"},
		connection.ByCause:  {"", "renewal_refused", "renewal_failing", "consent_ended"},
		connection.ByBrand:  {"brand", "another"}, connection.ByPortal: {"portal", "another"},
		connection.ByEndpoint: {"endpoint", "another"},
	} {
		for _, value := range values {
			found, more, err := s.conns.ConnectionsWith(t.Context(), tenant, connection.Property{By: by, Value: value}, "", 10)
			expect.NoError(t, err)
			if is := value == want[by]; (len(found) == 1) != is || more {
				t.Errorf("the list %s=%q contains %v, more %t; want the connection: %t", by, value, found, more, is)
			}
		}
	}
}

func TestConnectionMovesBetweenListsOnEveryChange(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	at := map[string]string{
		connection.ByStatus: "authorized", connection.ByCause: "renewal_refused", connection.ByBrand: "brand",
		connection.ByPortal: "portal", connection.ByEndpoint: "endpoint",
	}
	s.wantConnectionIn(t, at)
	c, err := s.conns.Connection(t.Context(), tenant, connID)
	expect.NoError(t, err)
	c.Refresh.RefusedAt = time.Time{}
	expect.NoError(t, s.refresh.SaveConnection(t.Context(), c))
	at[connection.ByCause] = "renewal_failing"
	s.wantConnectionIn(t, at)
	c.Rev++
	c.Status = connection.Revoked
	expect.NoError(t, s.refresh.SaveConnection(t.Context(), c, eventOf(tenant, eventID)))
	at[connection.ByStatus], at[connection.ByCause] = "revoked", "consent_ended"
	s.wantConnectionIn(t, at)
	c.Rev++
	expect.NoError(t, s.erasures().RemoveConnection(t.Context(), tenant, connID, now))
	s.wantConnectionIn(t, map[string]string{connection.ByCause: "none"})
}

func TestReconnectionAtOtherInstitutionMovesConnection(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	s.connect(t, tenant)
	c := connectionOf(tenant)
	back := s.reconnecting(t, secondAttempt, 1, 2)
	back.Connection = c
	back.Connection.Rev, back.Connection.BrandID, back.Connection.PortalID, back.Connection.Refresh = 1, "another", "",
		connection.RefreshState{}
	back.Events = []webhook.Event{}
	expect.NoError(t, s.flow.ConcludeAttempt(t.Context(), back))
	s.wantConnectionIn(t, map[string]string{
		connection.ByStatus: "authorized", connection.ByCause: "none", connection.ByBrand: "another",
		connection.ByPortal: "none", connection.ByEndpoint: "endpoint",
	})
}
