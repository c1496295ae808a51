package flow_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/secret"
)

func conclusionOf(t *testing.T, w *world) flow.Conclusion {
	t.Helper()
	if len(w.concluded) != 1 {
		t.Fatalf("%d conclusions, want 1", len(w.concluded))
	}
	return w.concluded[0]
}

// wantNoConnection checks that only the attempt's outcome and the corresponding event were stored.
func wantNoConnection(t *testing.T, w *world) {
	t.Helper()
	told := 0
	for _, c := range w.concluded {
		if c.Connection.ID != "" || len(c.Tokens.Sealed) != 0 || c.Error == "" {
			t.Errorf("a failed attempt left the connection %q, %d bytes of tokens, error %q", c.Connection.ID,
				len(c.Tokens.Sealed), c.Error)
		}
		for _, event := range c.Events {
			told++
			if event.Type != webhook.ConnectionFailed {
				t.Errorf("a failed attempt told of %s", event.Type)
			}
		}
	}
	if len(w.enqueued) != told {
		t.Errorf("enqueued %v of %d events", w.enqueued, told)
	}
}

func TestCompleteReturnsExactResultFields(t *testing.T) {
	t.Parallel()
	for name, external := range map[string]bool{"with external ids": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(), request(t)
			if !external {
				r.ExternalID, r.ExternalState = "", ""
			}
			done, err := w.completer(t).Complete(t.Context(), w.start(t, r).back())
			if err != nil {
				t.Fatal(err)
			}
			want := url.Values{
				"org_connection_id": {conclusionOf(t, w).Connection.ID}, "endpoint_id": {endpointID}, "portal_id": {portalID},
				"brand_id": {brandID}, "connection_status": {"authorized"}, "platform_type": {"sandbox"},
				"request_id": {"request-1"},
				"scope":      {"patient/*.read"},
			}
			if external {
				want["external_id"], want["external_state"] = []string{"patient-7"}, []string{"visit-9"}
			}
			if diff := cmp.Diff(want, done.Result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if done.Redirect.URI() != redirectURI {
				t.Errorf("redirect to %s", done.Redirect.URI())
			}
		})
	}
}

func TestCompleteStoresCompleteConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		b := w.start(t, request(t))
		<-time.After(5 * time.Minute)
		if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
			t.Fatal(err)
		}
		c := conclusionOf(t, w)
		want := connection.Connection{
			ID: c.Connection.ID, Tenant: tenant, Status: connection.Authorized, BrandID: brandID, PortalID: portalID,
			EndpointID: endpointID, PlatformType: "sandbox", Scope: "patient/*.read", Generation: 1, CreatedAt: time.Now(),
			Patient:    newKeyring(t).Sign([]byte("patient|" + fhirBase + "|p1")),
			ExternalID: "patient-7", External: external(t, "patient-7"),
			Refresh: connection.RefreshState{RefreshAt: refresh.Next(c.Connection.ID, w.set, time.Now())},
		}
		if diff := cmp.Diff(want, c.Connection); diff != "" {
			t.Errorf("connection (-want +got):\n%s", diff)
		}
		if c.Error != "" || c.Attempt.RequestID != "request-1" || c.Tokens.Version != 1 || c.Tokens.ConnectionID != want.ID ||
			c.Tokens.Tenant != tenant {
			t.Errorf("conclusion %+v", c)
		}
		set, err := tokens.Vault{Sealer: w}.Open(t.Context(), c.Tokens)
		if err != nil || set.AccessToken.Reveal() != "access" || set.RefreshToken.Reveal() != "refresh" ||
			set.PatientID.Reveal() != "p1" {
			t.Errorf("sealed tokens: %v", err)
		}
		wantConnectionEvent(t, w, map[string]any{
			"org_connection_id": want.ID, "endpoint_id": endpointID, "portal_id": portalID, "brand_id": brandID,
			"connection_status": "authorized", "platform_type": "sandbox", "request_id": "request-1",
			"external_id": "patient-7", "external_state": "visit-9", "scope": "patient/*.read",
		})
	})
}

func wantConnectionEvent(t *testing.T, w *world, data map[string]any) {
	t.Helper()
	events := conclusionOf(t, w).Events
	if len(events) != 1 || len(w.enqueued) != 1 || w.enqueued[0] != events[0].ID {
		t.Fatalf("%d events, enqueued %v", len(events), w.enqueued)
	}
	var got map[string]any
	if err := json.Unmarshal(events[0].Body, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"api_mode": "test", "date": got["date"], "id": events[0].ID, "type": "patient.connection_success", "data": data,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestCompleteSendsCodeOnlyToPinnedTokenEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.profile.Extra, w.profile.RawBasic = []string{"practice"}, true
	b := w.start(t, request(t))
	pinned := w.attempts[w.states[hash(b.state)].AttemptID]
	w.profile.Extra, w.profile.RawBasic = []string{"something", "else"}, false
	w.authority = flow.Authority{Issuer: "https://evil.example", TokenEndpoint: "https://evil.example/token"}
	if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
		t.Fatal(err)
	}
	if pinned.TokenEndpoint != "https://ehr.example/token" || pinned.Issuer != issuer || !pinned.RawBasic ||
		!slices.Equal(pinned.Extra, []string{"practice"}) ||
		pinned.Callback != callbackURI || pinned.FHIRBase != fhirBase || pinned.ClientID != "client" ||
		pinned.EndpointID != endpointID {
		t.Errorf("pinned %+v", pinned)
	}
	want := []flow.Grant{{Attempt: pinned, Code: secret.New("code"), Verifier: secret.New(verifier)}}
	sameText := cmp.Comparer(func(a, b secret.Text) bool { return a.Equal(b) })
	if diff := cmp.Diff(want, w.grants, sameText); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}

func TestPatientMarkDistinguishesPatients(t *testing.T) {
	t.Parallel()
	w := newWorld()
	mark := func(patient string) secret.Mark {
		w.set.PatientID = secret.New(patient)
		if _, err := w.completer(t).Complete(t.Context(), w.start(t, request(t)).back()); err != nil {
			t.Fatal(err)
		}
		return w.concluded[len(w.concluded)-1].Connection.Patient
	}
	first, again, other := mark("p1"), mark("p1"), mark("p2")
	if !cmp.Equal(first, again) || cmp.Equal(first, other) {
		t.Errorf("marks %v, %v, %v", first, again, other)
	}
}

func TestCompleteFailsWhenPortalReturnsNoPatient(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*connection.Connection){
		"a first sign-in":          nil,
		"a reconnect":              func(*connection.Connection) {},
		"of one without a patient": func(c *connection.Connection) { c.Patient = secret.Mark{} },
		"of one that was rejected": func(c *connection.Connection) {
			c.Status, c.Patient = connection.Rejected,
				secret.Mark{}
		},
		"of one still in good use":  func(c *connection.Connection) { c.Status = connection.Authorized },
		"of one that was given up ": func(c *connection.Connection) { c.Refresh.Ended = connection.Disconnected },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(), request(t)
			if before != nil {
				conn := w.connected(t)
				before(&conn)
				w.conns[connID], r = conn, reconnectRequest(t)
			}
			conn, row := w.conns[connID], w.rows[connID]
			w.set.PatientID = secret.Text{}
			done, err := w.completer(t).Complete(t.Context(), w.start(t, r).back())
			wantFault(t, err, fault.Upstream, fault.CodeTokenExchange)
			wantNoConnection(t, w)
			if diff := cmp.Diff(conn, w.conns[connID]) + cmp.Diff(row, w.rows[connID]); diff != "" || done.Result != nil {
				t.Errorf("the connection or its tokens changed:\n%s", diff)
			}
			if data := wantTold(t, w, err, "no_patient"); !strings.Contains(fmt.Sprint(data["suggested_action"]),
				"launch/patient") {
				t.Errorf("told %v", data)
			}
			if at := fault.SpotOf(err); at.Step != fault.StepIdentity || at.Class != "no_patient" || at.Host != "ehr.example" {
				t.Errorf("the log says %+v", at)
			}
		})
	}
}

func TestCompleteRejectsUnverifiedCallbackWithoutRedirect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*flow.Return)
		wait   time.Duration
		keeps  bool // whether the state still works in the original browser
	}{
		"no state":      {change: func(r *flow.Return) { r.State = "" }, keeps: true},
		"unknown state": {change: func(r *flow.Return) { r.State = "made up" }, keeps: true},
		"no cookie":     {change: func(r *flow.Return) { r.Cookie = func(string) string { return "" } }, keeps: true},
		"another's cookie": {
			change: func(r *flow.Return) { r.Cookie = func(string) string { return "x" } },
			keeps:  true,
		},
		"the hash as cookie":    {change: func(r *flow.Return) { r.Cookie = hash }, keeps: true},
		"expired":               {change: func(*flow.Return) {}, wait: lifetime},
		"an error, but expired": {change: func(r *flow.Return) { r.Error = "access_denied" }, wait: lifetime},
		"refusal, no cookie": {change: func(r *flow.Return) {
			r.Error, r.Cookie = "access_denied", func(string) string { return "" }
		}, keeps: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				b := w.start(t, request(t))
				<-time.After(c.wait)
				r := b.back()
				c.change(&r)
				done, err := w.completer(t).Complete(t.Context(), r)
				wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
				if done.Redirect.URI() != "" || done.Result != nil || done.ExternalState != "" {
					t.Errorf("completed %+v", done)
				}
				if len(w.grants)+len(w.concluded) != 0 {
					t.Errorf("%d exchanges, %d conclusions", len(w.grants), len(w.concluded))
				}
				if c.keeps {
					if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
						t.Errorf("the right browser afterwards: %v", err)
					}
				}
			})
		})
	}
}

func TestAttemptExpiresAfterThirtyMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		b := w.start(t, request(t))
		<-time.After(lifetime - time.Second)
		if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
			t.Error(err)
		}
	})
}

func TestStateIsSingleUseUnderConcurrentCallbacks(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := w.start(t, request(t))
	completer := w.completer(t)
	var returns sync.WaitGroup
	results := make([]error, 20)
	for i := range results {
		returns.Go(func() { _, results[i] = completer.Complete(t.Context(), b.back()) })
	}
	returns.Wait()
	succeeded := 0
	for _, err := range results {
		if err == nil {
			succeeded++
			continue
		}
		wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
	}
	if succeeded != 1 || len(w.concluded) != 1 || len(w.grants) != 1 {
		t.Errorf("%d succeeded, %d conclusions, %d exchanges, want one each", succeeded, len(w.concluded), len(w.grants))
	}
}

func TestAttemptsInTwoTabsAreIndependent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	first, second := w.start(t, request(t)), w.start(t, request(t))
	both := map[string]string{}
	for _, b := range []browser{first, second} {
		maps.Copy(both, b.cookies)
	}
	for _, b := range []browser{first, second} {
		b.cookies = both
		if _, err := w.completer(t).Complete(t.Context(), b.back()); err != nil {
			t.Error(err)
		}
	}
}

func TestCompleteRejectsCallbackFromWrongIssuer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		issuer   string // iss sent by the portal
		required bool
		returned string
		good     bool
	}{
		"promised and right":            {issuer, true, issuer, true},
		"promised and missing":          {issuer, true, "", false},
		"promised and wrong":            {issuer, true, "https://evil.example", false},
		"promised, but a prefix":        {issuer, true, issuer + "/", false},
		"not promised and right":        {issuer, false, issuer, true},
		"not promised and missing":      {issuer, false, "", true},
		"not promised and wrong":        {issuer, false, "https://evil.example", false},
		"a portal without issuer, none": {"", false, "", true},
		"a portal without issuer, one":  {"", false, "https://any.example", false},
		"one above its addresses":       {"", false, issuer, true},
	} {
		for _, refusal := range []string{"", "access_denied"} {
			t.Run(name+" "+refusal, func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				w.authority.Issuer, w.authority.IssRequired = c.issuer, c.required
				r := w.start(t, request(t)).back()
				r.Issuer, r.Error = c.returned, refusal
				done, err := w.completer(t).Complete(t.Context(), r)
				if c.good {
					if (err == nil) != (refusal == "") || conclusionOf(t, w).Connection.ID == "" {
						t.Errorf("got %v, want a connection", err)
					}
					return
				}
				wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
				wantNoConnection(t, w)
				if len(w.grants) != 0 || done.Redirect.URI() != redirectURI || conclusionOf(t, w).Error != "svc_invalid_request" {
					t.Errorf("%d exchanges, completed %+v, conclusion %+v", len(w.grants), done, w.concluded)
				}
			})
		}
	}
}

func TestCompleteRejectsVerifierOfAnotherAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld()
	begin := func() (browser, string) {
		page := w.start(t, request(t))
		return page, w.states[hash(w.asked.State)].AttemptID
	}
	_, other := begin()
	page, id := begin()
	attempt := w.attempts[id]
	attempt.Verifier = w.attempts[other].Verifier
	w.attempts[id] = attempt
	if _, err := w.completer(t).Complete(t.Context(), page.back()); err == nil || id == other || len(w.grants) != 0 {
		t.Errorf("completed with the verifier of another attempt: %v, %d grants", err, len(w.grants))
	}
}
