package flow_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const connID = "c0000000-0000-4000-8000-00000000000a"

// connected adds patient p1's revoked connection, including the tombstone of its tokens, to w and returns the
// connection.
func (w *world) connected(t *testing.T) connection.Connection {
	t.Helper()
	conn := connection.Connection{
		ID: connID, Tenant: tenant, Status: connection.Revoked, BrandID: brandID, PortalID: portalID, EndpointID: endpointID,
		PlatformType: "sandbox", Scope: "patient/*.read offline_access", ConsentExpiresAt: time.Now().Add(-time.Hour),
		Patient: newKeyring(t).Sign([]byte("patient|" + fhirBase + "|p1")), Generation: 3,
		CreatedAt: time.Now().Add(-time.Hour), Rev: 9,
		Refresh: connection.RefreshState{
			Failures: 2, Ended: "invalid_grant", Warned: true,
			UpstreamUntil: time.Now().Add(time.Hour),
		},
	}
	w.conns[connID] = conn
	w.rows[connID] = tokens.Row{Tenant: tenant, ConnectionID: connID, Version: 5, LeaseOwner: "somebody"}
	return conn
}

func reconnectRequest(t *testing.T) flow.Request {
	t.Helper()
	r := request(t)
	r.Reconnect, r.EndpointID, r.BrandID, r.PortalID = connID, "", "", ""
	return r
}

func TestReconnectRenewsConnectionUnderItsID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		want := w.connected(t)
		w.set.ConsentExpiresAt = time.Now().Add(30 * 24 * time.Hour)
		b := w.start(t, reconnectRequest(t))
		<-time.After(time.Minute)
		done, err := w.completer(t).Complete(t.Context(), b.back())
		if err != nil {
			t.Fatal(err)
		}
		want.Status, want.Generation = connection.Authorized, 4
		want.ExternalID, want.External = "patient-7", external(t, "patient-7")
		want.Scope, want.ConsentExpiresAt = "patient/*.read", w.set.ConsentExpiresAt
		want.Refresh = connection.RefreshState{RefreshAt: refresh.Next(connID, w.set, time.Now())}
		c := conclusionOf(t, w)
		if diff := cmp.Diff(want, c.Connection); diff != "" {
			t.Errorf("connection (-want +got):\n%s", diff)
		}
		if c.Tokens.Version != 6 || c.Tokens.LeaseOwner != "" || c.Tokens.ConnectionID != connID {
			t.Errorf("tokens of version %d, leased by %q", c.Tokens.Version, c.Tokens.LeaseOwner)
		}
		set, err := tokens.Vault{Sealer: w}.Open(t.Context(), c.Tokens)
		if err != nil || set.RefreshToken.Reveal() != "refresh" {
			t.Errorf("the sealed tokens do not open as version 6: %v", err)
		}
		if done.Result.Get("org_connection_id") != connID || done.Result.Get("endpoint_id") != endpointID ||
			done.Result.Get("connection_status") != "authorized" {
			t.Errorf("result %v", done.Result)
		}
		if got := c.Events[0].ID; got != webhook.EventID(tenant, webhook.ConnectionSucceeded, connID, 4) {
			t.Errorf("event %s is not that of generation 4", got)
		}
		if data := dataOf(t, c, webhook.ConnectionSucceeded); data["org_connection_id"] != connID ||
			data["external_state"] != "visit-9" {
			t.Errorf("told %v", data)
		}
	})
}

func TestReconnectStartsAtConnectionEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld()
	conn := w.connected(t)
	conn.BrandID = "b0000000-0000-4000-8000-0000000000ff" // the brand has since been merged
	w.conns[connID] = conn
	r := reconnectRequest(t)
	r.Reconnect, r.EndpointID = strings.ToUpper(connID), strings.ToUpper(endpointID)
	b := w.start(t, r)
	attempt := w.attempts[w.states[hash(b.state)].AttemptID]
	if attempt.Reconnect != connID || attempt.EndpointID != endpointID || attempt.BrandID != conn.BrandID ||
		attempt.FHIRBase != fhirBase {
		t.Errorf("pinned %+v", attempt)
	}
}

// TestReconnectAcceptsMergedInstitutionIDs checks that an application may send either an ID that has been merged or the
// surviving ID. The connection keeps its original IDs.
func TestReconnectAcceptsMergedInstitutionIDs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hasBrand, hasPortal, brand, portal string
		several, refused                   bool
	}{
		"the one that stays": {
			hasBrand: mergedID, hasPortal: formerID, brand: strings.ToUpper(brandID),
			portal: portalID,
		},
		"its brand alone":           {hasBrand: mergedID, hasPortal: formerID, brand: brandID},
		"its portal alone":          {hasBrand: mergedID, hasPortal: formerID, portal: portalID},
		"of several":                {hasBrand: mergedID, hasPortal: formerID, brand: brandID, several: true},
		"the one that was merged":   {hasBrand: brandID, hasPortal: portalID, brand: mergedID, portal: formerID},
		"its own, which has gone":   {hasBrand: foreignID, hasPortal: formerID, brand: foreignID, portal: formerID},
		"another's at the endpoint": {hasBrand: brandID, hasPortal: portalID, brand: nextID, refused: true},
		"merged into another":       {hasBrand: nextID, hasPortal: portalID, brand: mergedID, refused: true},
		"another portal of it": {
			hasBrand: mergedID, hasPortal: formerID, brand: brandID, portal: secondID,
			refused: true,
		},
		"no way there": {hasBrand: brandID, hasPortal: portalID, brand: foreignID, refused: true},
		"none since it has gone": {
			hasBrand: foreignID, hasPortal: formerID, brand: brandID, portal: portalID,
			refused: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(), reconnectRequest(t)
			conn := w.connected(t)
			conn.BrandID, conn.PortalID = c.hasBrand, c.hasPortal
			w.conns[connID], w.several, r.BrandID, r.PortalID = conn, c.several, c.brand, c.portal
			_, err := w.starter().Start(t.Context(), r)
			if c.refused {
				if wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest); len(w.attempts) != 0 {
					t.Error("an attempt was stored")
				}
				return
			}
			expect.NoError(t, err)
			for _, attempt := range w.attempts {
				if attempt.BrandID != c.hasBrand || attempt.PortalID != c.hasPortal {
					t.Errorf("stored %s %s", attempt.BrandID, attempt.PortalID)
				}
			}
		})
	}
}

func TestReconnectReturnsIdenticalErrorForEveryRejection(t *testing.T) {
	t.Parallel()
	texts := map[string]bool{}
	for name, change := range map[string]func(*connection.Connection, *flow.Request){
		"unknown":   func(_ *connection.Connection, r *flow.Request) { r.Reconnect = endpointID },
		"malformed": func(_ *connection.Connection, r *flow.Request) { r.Reconnect = "../" + connID },
		"another organisation's": func(c *connection.Connection, _ *flow.Request) {
			c.Tenant.OrgID = "a0000000-0000-4000-8000-000000000002"
		},
		"the other mode's":    func(c *connection.Connection, _ *flow.Request) { c.Tenant.Mode = org.Live },
		"a TEFCA connection":  func(c *connection.Connection, _ *flow.Request) { c.PlatformType = "tefca" },
		"without an endpoint": func(c *connection.Connection, _ *flow.Request) { c.EndpointID = "" },
	} {
		w, r := newWorld(), reconnectRequest(t)
		conn := w.connected(t)
		change(&conn, &r)
		w.conns[connID] = conn
		_, err := w.starter().Start(t.Context(), r)
		wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
		texts[fault.Of(err).Public] = true
		if len(w.attempts)+len(w.states) != 0 {
			t.Errorf("%s: something was stored", name)
		}
	}
	if len(texts) != 1 {
		t.Errorf("they can be told apart: %v", texts)
	}
}

func TestReconnectRejectsRemovedEndpoint(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*connection.Connection, *flow.Request){
		"suspended":        func(c *connection.Connection, _ *flow.Request) { c.EndpointID = suspendedID },
		"another endpoint": func(_ *connection.Connection, r *flow.Request) { r.EndpointID = strangerID },
		"another brand":    func(_ *connection.Connection, r *flow.Request) { r.BrandID = portalID },
	} {
		w, r := newWorld(), reconnectRequest(t)
		conn := w.connected(t)
		change(&conn, &r)
		w.conns[connID] = conn
		_, err := w.starter().Start(t.Context(), r)
		if wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest); len(w.attempts) != 0 {
			t.Errorf("%s: an attempt was stored", name)
		}
	}
	w := newWorld()
	w.connected(t)
	w.broken = "Connection"
	_, err := w.starter().Start(t.Context(), reconnectRequest(t))
	wantFault(t, err, fault.Internal, fault.CodeServerError)
}

func TestReconnectRequiresSamePatient(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*world, *connection.Connection)
		good   bool
	}{
		"the same": {func(*world, *connection.Connection) {}, true},
		"still authorised": {func(_ *world,
			conn *connection.Connection,
		) {
			conn.Status = connection.Authorized
		}, true},
		"another":                   {func(w *world, _ *connection.Connection) { w.set.PatientID = secret.New("p2") }, false},
		"nobody then":               {func(_ *world, conn *connection.Connection) { conn.Patient = secret.Mark{} }, false},
		"a key that is gone":        {func(_ *world, conn *connection.Connection) { conn.Patient.Version = 7 }, false},
		"moved to another endpoint": {func(_ *world, conn *connection.Connection) { conn.EndpointID = strangerID }, false},
		"rejected before": {func(_ *world, conn *connection.Connection) {
			conn.Status, conn.Patient = connection.Rejected, secret.Mark{}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			before := w.connected(t)
			b := w.start(t, reconnectRequest(t))
			c.change(w, &before)
			w.conns[connID] = before
			row := w.rows[connID]
			done, err := w.completer(t).Complete(t.Context(), b.back())
			if c.good {
				if err != nil || w.conns[connID].Status != connection.Authorized || w.rows[connID].Version != 6 {
					t.Errorf("got %v, connection %s", err, w.conns[connID].Status)
				}
				return
			}
			wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
			wantNoConnection(t, w)
			if diff := cmp.Diff(before, w.conns[connID]) + cmp.Diff(row, w.rows[connID]); diff != "" || done.Result != nil {
				t.Errorf("the connection or its tokens changed:\n%s", diff)
			}
			if data := wantTold(t, w, err, "wrong_patient"); data["org_connection_id"] != connID {
				t.Errorf("told %v", data)
			}
			if text := fault.Of(err).Public; strings.Contains(text, "p1") || strings.Contains(text, "p2") ||
				strings.Contains(text, "atient") {
				t.Errorf("the text says something of a patient: %s", text)
			}
		})
	}
}

func TestReconnectSetsPatientOfRejectedConnection(t *testing.T) {
	t.Parallel()
	w := newWorld()
	conn := w.connected(t)
	conn.Status, conn.Patient = connection.Rejected, secret.Mark{}
	w.conns[connID] = conn
	delete(w.rows, connID)
	if _, err := w.completer(t).Complete(t.Context(), w.start(t, reconnectRequest(t)).back()); err != nil {
		t.Fatal(err)
	}
	if got := w.conns[connID].Patient; !newKeyring(t).Check([]byte("patient|"+fhirBase+"|p1"), got) ||
		w.rows[connID].Version != 1 {
		t.Errorf("mark %v, tokens of version %d", got, w.rows[connID].Version)
	}
	w.set.PatientID = secret.New("p2")
	_, err := w.completer(t).Complete(t.Context(), w.start(t, reconnectRequest(t)).back())
	wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
}

func TestRejectedReconnectKeepsConnection(t *testing.T) {
	t.Parallel()
	w := newWorld()
	before := w.connected(t)
	r := w.start(t, reconnectRequest(t)).back()
	r.Error = "access_denied"
	done, err := w.completer(t).Complete(t.Context(), r)
	wantFault(t, err, fault.Upstream, "access_denied")
	c := conclusionOf(t, w)
	if diff := cmp.Diff(map[string]connection.Connection{connID: before}, w.conns); diff != "" ||
		len(c.Events)+len(w.enqueued) != 0 {
		t.Errorf("%d events, connections (-want +got):\n%s", len(c.Events), diff)
	}
	if done.Redirect.URI() != redirectURI || c.Error != "access_denied" || c.Cause != "declined" {
		t.Errorf("completed %+v, ended with %q", done, c.Error)
	}
}

func TestReconnectFailsWhenConnectionWasRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.connected(t)
	b := w.start(t, reconnectRequest(t))
	delete(w.conns, connID)
	_, err := w.completer(t).Complete(t.Context(), b.back())
	wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
	wantTold(t, w, err, "connection_unknown")
}

func TestReconnectKeepsConnectionOnInternalError(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"Connection", "TokenVersion", "Seal"} {
		w := newWorld()
		before := w.connected(t)
		b := w.start(t, reconnectRequest(t))
		w.broken = broken
		_, err := w.completer(t).Complete(t.Context(), b.back())
		wantFault(t, err, fault.Internal, fault.CodeServerError)
		if !cmp.Equal(before, w.conns[connID]) || w.rows[connID].Version != 5 {
			t.Errorf("%s: the connection changed", broken)
		}
	}
}
