package sandbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (p *portal) tokenAnswer(t *testing.T, spec string, pairs ...string) (*portal, map[string]any) {
	t.Helper()
	there := p.with(t, spec)
	a := there.post("/oauth/token", exchangeForm(there.code("alder-maple", pairs...)))
	if a.status != http.StatusOK {
		t.Fatalf("%s: %d %s", spec, a.status, a.body)
	}

	return there, a.json(t)
}

func TestTokenSwitchesAlterTokenResponse(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	const year = 365 * 24 * 3600.0
	for _, c := range []struct {
		spec string
		want map[string]any // a nil value means that the field must be absent
	}{
		{"no-patient", map[string]any{"patient": nil, "id_token": nil}},
		{"patient-unnamed", map[string]any{"patient": nil, "id_token": nil}},
		{"no-refresh", map[string]any{"refresh_token": nil, "patient": "patient-alder-maple"}},
		{"expires-in:missing", map[string]any{"expires_in": nil}},
		{"expires-in:text", map[string]any{"expires_in": "3600"}},
		{"access:5s", map[string]any{"expires_in": 5.0}},
		{"ah-practice", map[string]any{"ah_practice": "a-1.Practice-7"}},
		{"tell-expiry:authorization_expires_in", map[string]any{"authorization_expires_in": year}},
		{"tell-expiry:refresh_token_timeout", map[string]any{"refresh_token_timeout": year}},
		{"tell-expiry:refresh_token_expires_in,refresh:60s", map[string]any{"refresh_token_expires_in": 60.0}},
		{"tell-expiry:refresh_expires_in", map[string]any{"refresh_expires_in": year}},
		{"label:plain", map[string]any{"ah_practice": nil, "id_token": nil, "refresh_expires_in": nil, "expires_in": 3600.0}},
	} {
		_, got := p.tokenAnswer(t, c.spec)
		for field, want := range c.want {
			if diff := cmp.Diff(want, got[field]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", c.spec, field, diff)
			}
		}
	}
}

func TestLifetimeSwitchesShortenTokenLifetimes(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "access:5s,refresh:60s")
	got := there.connect("alder-maple")
	there.advance(4 * time.Second)
	if a := there.read(got.Access, "Goal"); a.status != http.StatusOK {
		t.Errorf("after 4 s: %d, want 200", a.status)
	}
	there.advance(time.Second)
	wantOutcome(t, there.read(got.Access, "Goal"), http.StatusUnauthorized, "login")
	there.advance(54 * time.Second)
	next := there.tokens(there.refresh(got.Refresh))
	there.advance(60 * time.Second)
	wantError(t, there.refresh(next.Refresh), 400, "invalid_grant")
}

func TestRotationSwitchControlsRefreshTokenRotation(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "rotation:one-time")
	got := there.connect("alder-maple")
	next := there.tokens(there.refresh(got.Refresh))
	wantError(t, there.refresh(got.Refresh), 400, "invalid_grant")
	wantError(t, there.refresh(next.Refresh), 400, "invalid_grant")
	wantOutcome(t, there.read(next.Access, "Goal"), http.StatusUnauthorized, "login")

	there = p.with(t, "rotation:rolling")
	got = there.connect("alder-maple")
	for range 2 {
		if next = there.tokens(there.refresh(got.Refresh)); next.Refresh == "" || next.Refresh == got.Refresh {
			t.Errorf("rolling: the refresh token is %q after %q", next.Refresh, got.Refresh)
		}
	}
	there.tokens(there.refresh(next.Refresh))

	there = p.with(t, "rotation:none")
	got = there.connect("alder-maple")
	for range 2 {
		if next = there.tokens(there.refresh(got.Refresh)); next.Refresh != "" {
			t.Error("none: there is a new refresh token")
		}
	}
}

func TestRefreshReturnsErrorSelectedBySwitch(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for how, want := range map[string]struct {
		status      int
		contentType string
		body        string
	}{
		"invalid_grant":       {400, "application/json", `"error":"invalid_grant"`},
		"401":                 {401, "application/json", `"error":"invalid_grant"`},
		"403":                 {403, "application/json", `"error":"invalid_grant"`},
		"invalid_client":      {401, "application/json", `"error":"invalid_client"`},
		"unauthorized_client": {400, "application/json", `"error":"unauthorized_client"`},
		"invalid_scope":       {400, "application/json", `"error":"invalid_scope"`},
		"html":                {200, "text/html", "<html>"},
		"html-503":            {503, "text/html", "<html>"},
		"500":                 {500, "application/json", "server_error"},
		"429":                 {429, "application/json", "slow_down"},
		"no-token":            {200, "application/json", `"expires_in":3600`},
	} {
		there := p.with(t, "refresh-fails:"+how)
		a := there.refresh(there.connect("alder-maple").Refresh)
		if a.status != want.status || !strings.HasPrefix(a.header.Get("Content-Type"), want.contentType) ||
			!strings.Contains(string(a.body), want.body) || strings.Contains(string(a.body), "access_token") {
			t.Errorf("%s: got %d %q %s", how, a.status, a.header.Get("Content-Type"), a.body)
		}
		if limited := a.header.Get("Retry-After") != ""; limited != (how == "429") {
			t.Errorf("%s: Retry-After is %q", how, a.header.Get("Retry-After"))
		}
	}
}

func TestRefreshRequiresScopeWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "refresh-needs-scope")
	got := there.connect("alder-maple")
	wantError(t, there.refresh(got.Refresh), 400, "invalid_request")
	there.tokens(there.refresh(got.Refresh, "scope", got.Scope))
}

func TestSwitchesInjectRevocationAndIntrospectionFailures(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for how, status := range map[string]int{"500": 500, "503": 503, "404": 404, "401": 401, "html": 200} {
		there := p.with(t, "revoke-fails:"+how+",introspect-fails:"+how)
		got := there.connect("alder-maple")
		form := url.Values{"token": {got.Refresh}, "client_id": {clientID}}
		for _, path := range []string{"/oauth/revoke", "/oauth/introspect"} {
			a := there.post(path, form)
			if isHTML := strings.Contains(string(a.body), "<html>"); a.status != status || isHTML != (how == "html") {
				t.Errorf("%s %s: got %d %s", path, how, a.status, a.body)
			}
		}
		if a := there.read(got.Access, "Goal"); a.status != http.StatusOK {
			t.Errorf("%s: a failed revocation ended the grant", how)
		}
	}
}

func TestIntrospectRequiresBearerTokenWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	there := p.with(t, "introspect-bearer")
	got := there.connect("alder-maple")
	form := url.Values{"token": {got.Refresh}}
	wantError(t, there.post("/oauth/introspect", form), 401, "invalid_token")
	wantError(t, there.post("/oauth/introspect", form, "Authorization", "Bearer made-up"), 401, "invalid_token")
	if a := there.post("/oauth/introspect", form, "Authorization", "Bearer "+got.Access); a.json(t)["active"] != true {
		t.Errorf("got %d %s, want an active token", a.status, a.body)
	}
}

func TestRefreshSucceedsAfterFailuresConfiguredBySwitch(t *testing.T) {
	t.Parallel()
	there := newPortal(t).with(t, "refresh-fails:500,fails-first:2")
	got := there.connect("alder-maple")
	for range 2 {
		wantError(t, there.refresh(got.Refresh), 500, "server_error")
	}
	next := there.tokens(there.refresh(got.Refresh))
	wantError(t, there.refresh(next.Refresh), 500, "server_error")
}

func TestTokenSwitchesRejectUnknownCodesAndClients(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	unknown := p.with(t, "unknown-code-500")
	if a := unknown.post("/oauth/token", exchangeForm("unknown")); a.status != http.StatusInternalServerError {
		t.Errorf("an unknown code: %d %s", a.status, a.body)
	}
	if a := unknown.post("/oauth/token", exchangeForm(unknown.code("alder-maple"))); a.status != http.StatusOK {
		t.Errorf("a code: %d %s", a.status, a.body)
	}
	there := p.with(t, "client-401,client-auth:client_secret_post,client-secret:right")
	a := there.post("/oauth/token", exchangeForm("code", "client_secret", "wrong"))
	if got := a.json(t); a.status != http.StatusUnauthorized || got["error"] != "unauthorized_client" {
		t.Errorf("a wrong secret: %d %v", a.status, got)
	}
}
