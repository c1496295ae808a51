package sandbox_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (p *oauthClient) revoke(token, client string) answer {
	p.t.Helper()

	return p.post("/oauth/revoke", url.Values{"token": {token}, "client_id": {client}})
}

func (p *oauthClient) introspect(token, client string) map[string]any {
	p.t.Helper()
	a := p.post("/oauth/introspect", url.Values{"token": {token}, "client_id": {client}})
	if a.status != http.StatusOK {
		p.t.Fatalf("introspect: %d %s", a.status, a.body)
	}

	return a.json(p.t)
}

func TestRevokingEitherTokenEndsGrant(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for name, pick := range map[string]func(tokens) string{
		"refresh token": func(got tokens) string { return got.Refresh },
		"access token":  func(got tokens) string { return got.Access },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine := p.in(t)
			got := mine.connect("alder-maple")
			for range 2 {
				if a := mine.revoke(pick(got), clientID); a.status != http.StatusOK {
					t.Fatalf("revoke: %d %s", a.status, a.body)
				}
			}
			wantOutcome(t, mine.read(got.Access, "Condition"), http.StatusUnauthorized, "login")
			wantError(t, mine.refresh(got.Refresh), 400, "invalid_grant")
		})
	}
}

func TestRevokeKeepsTokensOfOtherClients(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got, other := p.connect("alder-maple"), p.connect("alder-maple")
	if a := p.revoke(got.Refresh, "second-app"); a.status != http.StatusOK {
		t.Errorf("revoking another client's token: %d, want 200 and nothing done", a.status)
	}
	if a := p.revoke("made-up", clientID); a.status != http.StatusOK {
		t.Errorf("revoking an unknown token: %d, want 200", a.status)
	}
	p.revoke(other.Refresh, clientID)
	if a := p.read(got.Access, "Condition"); a.status != http.StatusOK {
		t.Errorf("the token of another grant: %d, want 200", a.status)
	}
	wantError(t, p.revoke(got.Refresh, "nobody"), 401, "invalid_client")
	wantError(t, p.revoke("", clientID), 400, "invalid_request")
}

func TestIntrospectReportsForeignTokensAsInactive(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.connect("alder-maple")
	issued := float64(p.clock.Load())
	want := map[string]any{
		"active": true, "scope": allScopes, "client_id": clientID, "token_type": "Bearer", "iss": p.base,
		"patient": "patient-alder-maple", "iat": issued, "exp": issued + 3600,
	}
	if diff := cmp.Diff(want, p.introspect(got.Access, clientID)); diff != "" {
		t.Errorf("access token (-want +got):\n%s", diff)
	}
	want["token_type"], want["exp"] = "refresh_token", issued+365*24*3600
	if diff := cmp.Diff(want, p.introspect(got.Refresh, clientID)); diff != "" {
		t.Errorf("refresh token (-want +got):\n%s", diff)
	}
	inactive := map[string]any{"active": false}
	p.refresh(got.Refresh)
	for name, answer := range map[string]map[string]any{
		"another client's token": p.introspect(got.Access, "second-app"),
		"unknown token":          p.introspect("made-up", clientID),
		"used refresh token":     p.introspect(got.Refresh, clientID),
	} {
		if diff := cmp.Diff(inactive, answer); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	wantError(t, p.post("/oauth/introspect", url.Values{"token": {got.Access}}), 401, "invalid_client")
	wantError(t, p.post("/oauth/introspect", url.Values{"client_id": {clientID}}), 400, "invalid_request")
}
