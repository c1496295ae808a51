package e2e_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// hostility describes how the hostile portal falsifies its discovery document after enrolment.
type hostility struct {
	name   string
	says   map[string]any
	pinned bool // whether the operator pinned the portal's URLs before the portal became hostile
}

func hostilities() []hostility {
	all := make([]hostility, 0, 10)
	for _, pinned := range []bool{true, false} {
		suffix := map[bool]string{true: ", pinned", false: ", never pinned"}[pinned]
		for name, says := range map[string]map[string]any{
			"no issuer":             {},
			"the other's issuer":    {"issuer": honestIssuer, "authorization_response_iss_parameter_supported": true},
			"the other's sign-in":   {"authorization_endpoint": honestIssuer + "/oauth/authorize"},
			"the other's token URL": {"issuer": honestIssuer, "token_endpoint": honestIssuer + "/oauth/token"},
			"our own origin":        {"authorization_endpoint": baseURL + "/bridge/connect?attempt=theirs"},
		} {
			all = append(all, hostility{name + suffix, says, pinned})
		}
	}
	return all
}

// hostileAs returns a stack with an honest portal and one that has become hostile. The service's client has the same
// client ID at both portals.
func hostileAs(t *testing.T, h hostility) *mixup {
	t.Helper()
	m := newMixup(t)
	pins := catalog.Pins{}
	if h.pinned {
		pins = catalog.PinsOf(catalog.Addresses{Authorization: hostileHost + "/authorize", Token: hostileHost + "/token"})
	}
	m.enroll(m.hostile, hostileBase, pins, catalog.Registration{ClientID: sandbox.DefaultClientID})
	m.enroll(m.honest, honestBase, catalog.Pins{}, catalog.Registration{ClientID: sandbox.DefaultClientID})
	maps.Copy(m.discovery, h.says)
	return m
}

// TestHostilePortalCannotObtainCodeFromHonestPortal checks that the hostile portal can't obtain a code by redirecting a
// victim to the honest portal's sign-in page.
func TestHostilePortalCannotObtainCodeFromHonestPortal(t *testing.T) {
	t.Parallel()
	for _, h := range hostilities() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := hostileAs(t, h)
				m.patient.browser().open(m.connectURLTo(m.hostile), crashPersona, "approve")
				m.clock.advance(1)
				m.checkHarmless(t)
			})
		})
	}
}

// TestHostilePortalCannotObtainCodeWhenHonestPortalOmitsIss checks that separate callback URLs stop the attack. The
// honest portal redirects to its registration's callback URL, which differs from the hostile portal's (RFC 9700 section
// 4.4.2).
func TestHostilePortalCannotObtainCodeWhenHonestPortalOmitsIss(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMixup(t)
		m.silent = honestIssuer + "/with/iss:missing"
		m.callback = baseURL + "/bridge/callback/honest"
		m.enroll(m.hostile, hostileBase, catalog.Pins{},
			catalog.Registration{ClientID: sandbox.DefaultClientID, Callback: "hostile"})
		m.enroll(m.honest, m.silent+"/fhir", catalog.Pins{},
			catalog.Registration{ClientID: sandbox.DefaultClientID, Callback: "honest"})
		_, last := m.patient.browser().open(m.connectURLTo(m.hostile), crashPersona, "approve")
		if got := last.Query().Get("error"); got != "svc_invalid_request" ||
			!logged(m.stack, "http.request", `"event":"wrong_callback"`) {
			t.Errorf("the application got %v", last.Query())
		}
		m.clock.advance(1)
		m.checkHarmless(t)
		if _, last = m.patient.browser().open(m.connectURLTo(m.honest), crashPersona,
			"approve"); last.Query().Get("connection_status") != "authorized" {
			t.Errorf("at the honest portal the application got %v", last.Query())
		}
	})
}

// TestHostilePortalCannotObtainCodeForAttackerAttempt checks that the attacker can't finish an attempt with the
// victim's code, even if the victim's authorization request carries the code challenge of the attacker's attempt.
func TestHostilePortalCannotObtainCodeForAttackerAttempt(t *testing.T) {
	t.Parallel()
	for _, h := range hostilities() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := hostileAs(t, h)
				attacker := m.patient.browser()
				begin, err := url.Parse(m.connectURLTo(m.honest))
				expect.NoError(t, err)
				own := attacker.get(begin).location().Query()
				m.challenge = own.Get("code_challenge")
				stolen := ""
				m.redeem = func(form url.Values) []byte { stolen = form.Get("code"); return []byte(`{"error":"invalid_grant"}`) }
				m.patient.browser().open(m.connectURLTo(m.hostile), crashPersona, "approve")
				end, err := url.Parse(own.Get("redirect_uri") + "?" +
					url.Values{"state": {own.Get("state")}, "code": {stolen}, "iss": {honestIssuer}}.Encode())
				expect.NoError(t, err)
				attacker.get(end)
				m.clock.advance(1)
				m.checkHarmless(t)
			})
		})
	}
}

// TestHostileFHIRBaseCannotObtainTokenFromHonestPortal checks that a hostile portal can't receive tokens at its FHIR
// base URL by naming the honest portal's issuer and token endpoint.
func TestHostileFHIRBaseCannotObtainTokenFromHonestPortal(t *testing.T) {
	t.Parallel()
	for _, pinned := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := hostileAs(t, hostility{pinned: pinned, says: map[string]any{
				"issuer": honestIssuer, "authorization_endpoint": hostileHost + "/authorize",
				"token_endpoint": honestIssuer + "/oauth/token",
				"authorization_response_iss_parameter_supported": true,
			}})
			_, last := m.patient.browser().open(m.connectURLTo(m.hostile), crashPersona, "approve")
			if id := last.Query().Get("org_connection_id"); id != "" {
				m.org.startExport(id)
				m.clock.advance(5)
			}
			m.checkHarmless(t)
		})
	}
}

// TestPlatformSecretIsNotSentToUnapprovedTokenEndpoint checks that a platform's client secret is never sent to a token
// endpoint named only by a site's discovery document. Anyone can trigger a token request by starting an attempt and
// supplying an arbitrary code.
func TestPlatformSecretIsNotSentToUnapprovedTokenEndpoint(t *testing.T) {
	t.Parallel()
	for _, method := range []catalog.AuthMethod{catalog.AuthSecretBasic, catalog.AuthSecretPost} {
		for name, token := range map[string]string{
			"its own":   hostileHost + "/token",
			"elsewhere": hostileElsewhere + "/token",
		} {
			t.Run(string(method)+" "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := newMixup(t)
					// The operator has approved the use of the secret only for the honest hospital.
					authID, err := m.operator.Clients.Create(t.Context(), org.Tenant{}, catalog.ClientAuth{
						Method: method, Origins: []string{"https://login.hazel.example"},
					}, secret.New("hush-hush-hush"))
					expect.NoError(t, err)
					m.enroll(m.hostile, hostileBase, catalog.Pins{}, catalog.Registration{ClientID: "recordbridge", AuthID: authID})
					m.discovery["token_endpoint"] = token
					b := m.patient.browser()
					begin, err := url.Parse(m.connectURLTo(m.hostile))
					expect.NoError(t, err)
					if left := b.get(begin).location(); left != nil && left.Query().Has("state") {
						back, err := url.Parse(left.Query().Get("redirect_uri") + "?" +
							url.Values{"state": {left.Query().Get("state")}, "code": {"any"}}.Encode())
						expect.NoError(t, err)
						b.get(back)
					}
					m.clock.advance(1)
					const advice = "it may be sent to; to list them, run ctl client list"
					if name == "its own" && !logged(m.stack, "http.request", advice) {
						t.Error("the operator is not told")
					}
					m.mu.Lock()
					m.got = withoutCode(m.got)
					m.mu.Unlock()
					m.checkHarmless(t)
				})
			})
		}
	}
}

// TestMovedTokenEndpointRequiresOperatorApproval checks that refreshes and exports don't send the refresh token to a
// new token endpoint until an operator approves it.
func TestMovedTokenEndpointRequiresOperatorApproval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMixup(t)
		pins := catalog.PinsOf(catalog.Addresses{
			Issuer: honestIssuer, Authorization: honestIssuer, Token: honestIssuer, Revocation: honestIssuer,
			Introspection: honestIssuer,
		})
		m.enroll(m.honest, honestBase, pins, catalog.Registration{ClientID: sandbox.DefaultClientID, Callback: "r7"})
		address := m.patient.browser().returning(m.connectURLTo(m.honest), crashPersona)
		if want := baseURL + "/bridge/callback/r7"; !strings.HasPrefix(address.String(), want+"?") {
			t.Fatalf("the portal returns to %s, want %s", address, want)
		}
		_, last := m.patient.browser().open(m.connectURLTo(m.honest), crashPersona, "approve")
		id := last.Query().Get("org_connection_id")
		m.org.startExport(id)
		m.clock.advance(2)
		m.org.checkDownload(crashPersona)

		m.moved = true
		<-time.After(11 * 24 * time.Hour)
		m.clock.advance(3)
		m.org.startExport(id)
		m.clock.advance(3)
		m.org.checkStatus(id, "authorized")
		if got := m.state.tokens(id).number("version"); got != 1 || len(m.got) != 0 {
			t.Errorf("the tokens have version %d, and the new server was shown %q", got, m.got)
		}
		for _, line := range []string{"refreshworker.message", "exportworker.message"} {
			if !logged(m.stack, line, `"event":"portal_moved"`, `"endpoint_id":"`+m.honest+`"`,
				"token from "+honestHost+" to "+hostileHost) {
				t.Errorf("no line of %s tells the operator", line)
			}
		}

		control := store.Control{DB: m.rows, Table: "test-ControlTable"}
		endpoint, err := store.Portals(control).Endpoint(t.Context(), m.honest)
		expect.NoError(t, err)
		endpoint.Pins.Token = hostileHost
		expect.NoError(t, store.Portals(control).SaveEndpoint(t.Context(), endpoint))
		m.redeem = func(url.Values) []byte {
			return []byte(`{"access_token":"fresh","token_type":"Bearer","expires_in":3600,"refresh_token":"fresh-too"}`)
		}
		<-time.After(13 * time.Hour)
		m.clock.advance(3)
		if got := m.state.tokens(id).number("version"); got < 2 || !slices.Contains(m.got, "refresh_token") {
			t.Errorf("approved, the tokens have version %d, and the new server was shown %q", got, m.got)
		}
	})
}

// logged reports whether a single log line contains all parts.
func logged(s *stack, parts ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.Lines(s.logs.String()) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			return true
		}
	}
	return false
}
