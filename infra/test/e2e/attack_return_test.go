package e2e_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/webhook"
)

// returning follows a browser's redirects through the portal and returns the callback URL without requesting it.
func (b *browser) returning(address, persona string) *url.URL {
	b.t.Helper()
	for range 5 {
		target, err := url.Parse(address)
		expect.NoError(b.t, err)
		if strings.Contains(target.Path, "/bridge/callback") {
			return target
		}
		if strings.HasSuffix(target.Path, "/oauth/authorize") {
			query := target.Query()
			query.Set("persona", persona)
			query.Set("decision", "approve")
			target.RawQuery = query.Encode()
		}
		next := b.get(target).location()
		if next == nil {
			b.t.Fatalf("no redirect from %s", target.Path)
		}
		address = target.ResolveReference(next).String()
	}
	b.t.Fatal("the portal never returned")
	return nil
}

// with returns a copy of address with the given query parameters replaced. A parameter with an empty value is removed.
func with(address *url.URL, changes map[string]string) *url.URL {
	changed, query := *address, address.Query()
	for name, value := range changes {
		query.Set(name, value)
		if value == "" {
			query.Del(name)
		}
	}
	changed.RawQuery = query.Encode()
	return &changed
}

// checkNoReturn checks that the response is the "bad request" error page and does not redirect.
func checkNoReturn(t *testing.T, got *visited) {
	t.Helper()
	checkRefusal(t, got, http.StatusBadRequest)
}

func checkRefusal(t *testing.T, got *visited, status int) {
	t.Helper()
	if got.status != status || got.location() != nil || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		t.Errorf("the browser got %d %v, want a page with %d", got.status, got.header, status)
	}
}

// checkError checks that the application receives an error code but no connection details.
func checkError(t *testing.T, got *visited, code string) url.Values {
	t.Helper()
	if to := got.location(); to == nil || to.Path != "/_local/return" || to.Host == strings.TrimPrefix(host, "http://") {
		t.Fatalf("the browser got %d %v", got.status, got.header)
	}
	result := got.location().Query()
	if result.Get("error") != code || result.Get("request_id") == "" || result.Has("org_connection_id") {
		t.Errorf("the application got %v, want %s", result, code)
	}
	return result
}

// snapshot returns all stored connections and tokens.
func (s state) snapshot() string {
	s.t.Helper()
	var all strings.Builder
	for _, table := range []string{"test-ConnectionTable", "test-TokensTable"} {
		for _, item := range s.state.browse(table) {
			for _, name := range slices.Sorted(maps.Keys(item)) {
				all.WriteString(name + "=" + string(item[name]) + "\n")
			}
		}
	}
	return all.String()
}

func (s checks) unchanged(t *testing.T, before, attack string) {
	t.Helper()
	if after := s.state.snapshot(); after != before {
		t.Errorf("%s changed what is stored from\n%s\nto\n%s", attack, before, after)
	}
}

func (o organisation) countConnections() int {
	o.t.Helper()
	page, err := o.operator.Connections.List(o.t.Context(), o.owner(), operator.ConnectionQuery{})
	expect.NoError(o.t, err)
	return len(page.Connections)
}

// TestCallbackIsSingleUse checks that repeating a callback request affects neither the portal nor the connection. The
// test repeats the request in the same browser, with and without its cookie, and in another browser.
func TestCallbackIsSingleUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		l, own := s.ehr.keepLedger(), s.patient.browser()
		address := own.returning(s.patient.connectURL(), crashPersona)
		before := maps.Clone(own.cookies)
		if got := own.get(address).location(); got == nil || got.Query().Get("connection_status") != "authorized" {
			t.Fatalf("the patient got %v", got)
		}
		s.clock.advance(1)
		stored := s.state.snapshot()
		again := s.patient.browser()
		again.cookies = before
		for name, b := range map[string]*browser{
			"in the same browser": own, "with the cookie": again,
			"in another browser": s.patient.browser(),
		} {
			checkNoReturn(t, b.get(address))
			s.check.unchanged(t, stored, name)
		}
		checkNoReturn(t, again.get(with(address, map[string]string{"code": "", "error": "access_denied"})))
		s.check.unchanged(t, stored, "a refusal afterwards")
		s.clock.advance(1)
		if told := s.webhooks.events("patient.connection_success"); l.grants != 1 || len(told) != 1 {
			t.Errorf("%d codes were exchanged and %d successes told, want one", l.grants, len(told))
		}
	})
}

// TestCallbackRequiresSameBrowserFromOutside checks that a victim's browser, whatever its cookies, can't finish an
// attacker's sign-in. The attacker's own browser must still be able to complete the attempt.
func TestCallbackRequiresSameBrowserFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, s *outside) {
		t.Helper()
		attacker := s.patient.browser()
		address := attacker.returning(s.patient.connectURL(), "alder-maple")
		bystander, forger := s.patient.browser(), s.patient.browser()
		bystander.returning(s.patient.connectURL(), crashPersona)
		for name := range attacker.cookies {
			forger.cookies[name] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
			for _, own := range bystander.cookies {
				bystander.cookies[name] = own
			}
		}
		for _, victim := range []*browser{s.patient.browser(), bystander, forger} {
			checkNoReturn(t, victim.get(address))
		}
		if got := s.org.countConnections(); got != 0 {
			t.Errorf("there are %d connections", got)
		}
		if got := attacker.get(address).location(); got == nil || got.Query().Get("connection_status") != "authorized" {
			t.Errorf("who left cannot return any more: %v", got)
		}
	})
}

// TestCallbackRejectsCodeFromAnotherSignIn checks that PKCE binds a code to the attempt that requested it (RFC 9700
// section 4.5).
func TestCallbackRejectsCodeFromAnotherSignIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		l, victim := s.ehr.keepLedger(), s.patient.browser()
		stolen := s.patient.browser().returning(s.patient.connectURL(), "alder-maple").Query().Get("code")
		address := victim.returning(s.patient.connectURL(), crashPersona)
		checkError(t, victim.get(with(address, map[string]string{"code": stolen})), "invalid_grant")
		checkNoReturn(t, victim.get(address)) // the attempt has already ended
		if got := s.org.countConnections(); got != 0 || l.grants != 0 {
			t.Errorf("there are %d connections, and %d codes were exchanged", got, l.grants)
		}

		existing := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		s.clock.advance(1)
		stored, back := s.state.snapshot(), s.patient.browser()
		address = back.returning(s.patient.reconnectURL(existing), crashPersona)
		checkError(t, back.get(with(address, map[string]string{"code": stolen})), "invalid_grant")
		s.check.unchanged(t, stored, "a code brought to a reconnect")
	})
}

// TestCallbackRejectsWrongIss checks that a portal that advertises the iss parameter must send its own issuer (RFC
// 9207). If the issuer is wrong, the client must not redeem the code at any token endpoint.
func TestCallbackRejectsWrongIss(t *testing.T) {
	t.Parallel()
	for name, iss := range map[string]string{
		"none": "", "another portal's": "https://another-portal.example",
		"one that begins like it": baseURL + "/sandbox/fhirs",
		"with a slash":            "/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{})
				l, b := s.ehr.keepLedger(), s.patient.browser()
				address := b.returning(s.patient.connectURL(), crashPersona)
				own := address.Query().Get("iss")
				if own == "" {
					t.Fatal("the portal sends no iss")
				}
				if iss == "/" {
					iss = own + "/"
				}
				checkError(t, b.get(with(address, map[string]string{"iss": iss})), "svc_invalid_request")
				checkNoReturn(t, b.get(address))
				if got := s.org.countConnections(); got != 0 || l.grants != 0 {
					t.Errorf("there are %d connections, and %d codes were exchanged", got, l.grants)
				}
			})
		})
	}
}

// TestCallbackRejectsResponseFromAnotherPortal checks that a dishonest portal can't obtain tokens by sending the honest
// portal's issuer or omitting the issuer. While the victim signs in at the honest portal, the dishonest portal
// redirects the browser to its own attempt's callback URL.
func TestCallbackRejectsResponseFromAnotherPortal(t *testing.T) {
	t.Parallel()
	for _, switched := range []string{"iss:wrong", "label:other", "iss:missing"} {
		t.Run(switched, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{})
				l, b := s.ehr.keepLedger(), s.patient.browser()
				honest := b.returning(s.patient.connectURL(), crashPersona).Query()
				other := b.returning(s.ehr.connectURLOf(quirk{with: switched}), crashPersona)
				mixed := with(other, map[string]string{"code": honest.Get("code"), "iss": honest.Get("iss")})
				checkError(t, b.get(mixed), "svc_invalid_request")
				if got := s.org.countConnections(); got != 0 || l.refused != 0 || l.grants != 0 {
					t.Errorf("there are %d connections, and the code went to a portal %d times", got, l.refused+l.grants)
				}
			})
		})
	}
}

// TestCallbackNotifiesOwningOrganisationFromOutside checks that a callback notifies the right organisation when a
// browser has attempts from two organisations. Each organisation's redirect URI and webhook must receive only that
// organisation's result.
func TestCallbackNotifiesOwningOrganisationFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, s *outside) {
		t.Helper()
		stranger := s.newStranger()
		s.org.subscribe(webhook.ConnectionFailed)
		b := s.patient.browser()
		theirs := b.returning(stranger.connectURL(), "alder-maple")
		ours := b.returning(s.patient.connectURL(), crashPersona)

		mixed := b.get(with(theirs, map[string]string{"state": ours.Query().Get("state")}))
		if got := checkError(t, mixed, "invalid_grant"); got.Get("external_state") != "state-9" ||
			mixed.location().Path != "/_local/return" {
			t.Errorf("the owner got %v at %s", got, mixed.location().Path)
		}
		own := b.get(theirs).location() // only the other organisation's attempt is pending
		if own == nil || own.Path != "/_local/return/stranger" || own.Query().Get("connection_status") != "authorized" {
			t.Fatalf("the stranger's own attempt ended at %v", own)
		}
		done := b.get(b.returning(s.patient.connectURL(), crashPersona)).location()
		if done == nil || done.Path != "/_local/return" || done.Query().Get("connection_status") != "authorized" {
			t.Fatalf("the owner's attempt ended at %v", done)
		}
		s.webhooks.awaitEvents("patient.connection_failed", 1)
		s.webhooks.awaitEvents("patient.connection_success", 1)
		failed, made := s.webhooks.events("patient.connection_failed"), s.webhooks.events("patient.connection_success")
		if len(failed) != 1 || len(made) != 1 {
			t.Errorf("the owner was told %d failures and %d successes, want one each", len(failed), len(made))
		}
		stranger.checkReceivedOnly(t, own.Query().Get("org_connection_id"))
		for id, reader := range map[string][2]string{
			done.Query().Get("org_connection_id"): {stranger.publicID, stranger.key},
			own.Query().Get("org_connection_id"):  {s.seeded.Organisations[0].PublicID, s.seeded.Organisations[0].PrivateKey},
		} {
			if got := s.call(http.MethodGet, "/bridge/org_connection/"+id, reader[0], reader[1],
				nil); got.status != http.StatusNotFound {
				t.Errorf("one organisation reads the other's connection: %d", got.status)
			}
		}
	})
}

// TestAttemptExpiresAfter30Minutes checks that an attempt expires after 30 minutes, regardless of its progress.
func TestAttemptExpiresAfter30Minutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		b := s.patient.browser()
		address := b.returning(s.patient.connectURL(), crashPersona)
		<-time.After(30 * time.Minute)
		checkNoReturn(t, b.get(address))
		if got := s.org.countConnections(); got != 0 {
			t.Errorf("there are %d connections", got)
		}
	})
}
