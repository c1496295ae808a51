package flow_test

import (
	"context"
	"strings"
	"testing"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

// logged calls run as a single unit of work and returns the unit's log line.
func logged(t *testing.T, run func(ctx context.Context)) string {
	t.Helper()
	var line strings.Builder
	ctx, event := logx.Begin(t.Context())
	run(ctx)
	event.Emit(ctx, logx.New(&line), "test")
	return line.String()
}

// everywhere returns a discovery whose URLs, one for each role, all have the same origin.
func everywhere(origin string) flow.Authority {
	return flow.Authority{
		Issuer: origin, AuthorizationEndpoint: origin + "/authorize", TokenEndpoint: origin + "/token",
		KeySet:   origin + "/keys",
		Userinfo: origin + "/userinfo", Revocation: origin + "/revoke", Introspection: origin + "/introspect",
	}
}

// names returns pointers to the discovery's URLs, keyed by role.
func names(a *flow.Authority) map[string]*string {
	return map[string]*string{
		"issuer": &a.Issuer, "authorization": &a.AuthorizationEndpoint, "token": &a.TokenEndpoint, "keys": &a.KeySet,
		"userinfo": &a.Userinfo, "revocation": &a.Revocation, "introspection": &a.Introspection,
	}
}

// wantMoved checks that neither a browser nor a widget can create an attempt, and that the log contains the role and
// its new origin.
func wantMoved(t *testing.T, w *world, told string) {
	t.Helper()
	line := logged(t, func(ctx context.Context) {
		_, err := w.starter().Start(ctx, request(t))
		wantFault(t, err, fault.Upstream, fault.CodeUnavailable)
		_, err = w.creator().Create(ctx, request(t))
		wantFault(t, err, fault.Upstream, fault.CodeUnavailable)
	})
	if len(w.attempts)+len(w.states)+len(w.tickets) != 0 || w.asked.State != "" {
		t.Errorf("%d attempts, %d states and %d start values were made", len(w.attempts), len(w.states), len(w.tickets))
	}
	for _, want := range []string{
		`"event":"portal_moved"`, `"endpoint_id":"` + endpointID + `"`,
		`"org_id":"` + tenant.OrgID + `"`, told,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("the log says %s, want %s", line, want)
		}
	}
}

func TestStartRejectsDiscoveryOutsidePinnedHosts(t *testing.T) {
	t.Parallel()
	const away = "https://away.example"
	for _, pinned := range []bool{true, false} {
		authority := everywhere("https://ehr.example")
		for role := range names(&authority) {
			t.Run(role, func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				w.authority = everywhere("https://ehr.example")
				told := role + " from none to " + away
				if pinned {
					w.pins = catalog.PinsOf(w.authority.Addresses())
					told = role + " from https://ehr.example to " + away
				}
				moved := w.authority
				*names(&moved)[role] = away
				w.authority = moved
				wantMoved(t, w, told)
			})
		}
	}
}

func TestStartDoesNotReportUnavailablePortalAsMoved(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.pins = catalog.PinsOf(everywhere("https://ehr.example").Addresses())
	w.authority = everywhere("https://ehr.example")
	w.authority.Issuer, w.authority.Substitute = "", true
	line := logged(t, func(ctx context.Context) {
		_, err := w.starter().Start(ctx, request(t))
		wantFault(t, err, fault.Unavailable, fault.CodeUnavailable)
	})
	if strings.Contains(line, "portal_moved") {
		t.Errorf("the log says %s", line)
	}
	moved := w.authority
	moved.TokenEndpoint = "https://away.example/token"
	w.authority = moved
	wantMoved(t, w, "token from https://ehr.example to https://away.example")
}

func TestStartAcceptsDiscoveryURLsFromPinsOrProfile(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world){
		"pinned elsewhere":                  func(w *world) { w.pins = catalog.PinsOf(w.authority.Addresses()) },
		"never pinned, known to be right":   func(w *world) { w.profile.Known = []string{"https://login.example"} },
		"never pinned, all at the own base": func(w *world) { w.authority = everywhere("https://ehr.example") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.authority = everywhere("https://login.example")
			prepare(w)
			w.start(t, request(t))
		})
	}
}

func TestStartRejectsOwnHostAsPortal(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"as it is": baseURL + "/bridge/connect?attempt=theirs", "in capitals": "https://API.example/x",
		"with its port": "https://api.example:443/x",
		"with a dot":    "https://api.example./x", "in another scheme": "http://api.example:443/x",
	} {
		authority := everywhere("https://ehr.example")
		for role := range names(&authority) {
			if role == "issuer" && name != "as it is" {
				continue
			}
			t.Run(name+", "+role, func(t *testing.T) {
				t.Parallel()
				w := newWorld()
				*names(&w.authority)[role] = address
				w.pins = catalog.PinsOf(w.authority.Addresses()) // as if an operator had approved the wrong URLs
				wantMoved(t, w, role+" from none to "+catalog.Origin(address))
			})
		}
	}
	t.Run("as a FHIR base", func(t *testing.T) {
		t.Parallel()
		w := newWorld()
		w.base = baseURL + "/bridge"
		wantMoved(t, w, "FHIR base from none to https://api.example")
	})
}

func TestStartAcceptsOwnHostOnlyForSandboxInTestMode(t *testing.T) {
	t.Parallel()
	sandbox := func(w *world) {
		w.base, w.authority = baseURL+"/sandbox/with/iss:present/fhir", everywhere(baseURL+"/sandbox")
	}
	w := newWorld()
	sandbox(w)
	w.start(t, request(t))
	for name, address := range map[string]string{
		"beside it": baseURL + "/bridge/connect?attempt=theirs", "a way up": baseURL + "/sandbox/../bridge/connect",
		"an escaped way up":     baseURL + "/sandbox/%2e%2e/bridge/connect",
		"a name that begins so": baseURL + "/sandboxes/authorize",
		"an escaped slash":      baseURL + "/sandbox/..%2fbridge/connect",
		"a backslash":           baseURL + `/sandbox/..\bridge/connect`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			sandbox(w)
			w.authority.AuthorizationEndpoint = address
			wantMoved(t, w, "authorization from none to https://api.example")
		})
	}
	t.Run("in live mode", func(t *testing.T) {
		t.Parallel()
		w := newWorld()
		sandbox(w)
		asked := request(t)
		asked.EndpointID = liveID
		asked.Caller.Tenant.Mode = "live"
		_, err := w.starter().Start(t.Context(), asked)
		wantFault(t, err, fault.Upstream, fault.CodeUnavailable)
	})
}

// TestCompleteFailsAttemptReturnedToDifferentCallback covers a response on a callback URL other than the attempt's. The
// response must fail that attempt and must not complete any other attempt (RFC 9700 section 4.4.2).
func TestCompleteFailsAttemptReturnedToDifferentCallback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		registered, returned string
		good                 bool
	}{
		"its own":                     {"r1", "r1", true},
		"the plain one":               {"", "", true},
		"another's":                   {"r1", "r2", false},
		"the plain one for its own":   {"r1", "", false},
		"another's for the plain one": {"", "r1", false},
		"one that goes on":            {"r1", "r1/r2", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.callback = c.registered
			b := w.start(t, request(t))
			want := callbackURI
			if c.registered != "" {
				want += "/" + c.registered
			}
			if w.asked.RedirectURI != want {
				t.Fatalf("the portal was given %s, want %s", w.asked.RedirectURI, want)
			}
			r := b.back()
			r.Registration = c.returned
			var err error
			line := logged(t, func(ctx context.Context) { _, err = w.completer(t).Complete(ctx, r) })
			if c.good {
				if err != nil || len(w.grants) != 1 || w.grants[0].Attempt.Callback != want {
					t.Errorf("got %v after %+v", err, w.grants)
				}
				return
			}
			wantFault(t, err, fault.Invalid, fault.CodeInvalidRequest)
			wantNoConnection(t, w)
			if len(w.grants) != 0 || len(w.states) != 0 || conclusionOf(t, w).Cause != "wrong_callback" {
				t.Errorf("%d exchanges, %d states are left, conclusion %+v", len(w.grants), len(w.states), w.concluded)
			}
			if !strings.Contains(line, `"event":"wrong_callback"`) {
				t.Errorf("the log says %s", line)
			}
		})
	}
}
