package smart_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// proving authenticates clients with a header, and omits client_id as client_secret_basic does.
type proving struct {
	fails error

	mu    sync.Mutex
	asked []proof
}

// proof records a call to proving.Authenticate.
type proof struct {
	Tenant org.Tenant
	Use    catalog.ClientUse
}

func (p *proving) Authenticate(_ context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, proof{tenant, use})
	if p.fails != nil {
		return p.fails
	}
	header.Set("Authorization", "Basic proof")
	form.Set("proof", "also in the form")
	return nil
}

func tenant() org.Tenant { return org.Tenant{Mode: org.Test, OrgID: "org-7"} }

// confidential returns the token set of a confidential client for the health system.
func (e *ehr) confidential() tokens.Set {
	return tokens.Set{
		AccessToken: secret.New("access-maple"), RefreshToken: secret.New("refresh-maple"), FHIRBase: e.URL + "/r4",
		TokenEndpoint: e.URL + "/token", RevocationEndpoint: e.URL + "/revoke", IntrospectionEndpoint: e.URL + "/introspect",
		ClientID: "client", ClientAuthID: "auth-7",
	}
}

func TestPortalAuthenticatesEveryConfidentialClientRequest(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{
		"/token":      reply(http.StatusOK, `{"access_token":"a","refresh_token":"r","patient":"p"}`),
		"/introspect": reply(http.StatusOK, `{"active":false}`), "/revoke": reply(http.StatusOK, ""),
	})
	clients := &proving{}
	portal := portal(doer(), time.Now, clients)
	set, err := portal.Exchange(t.Context(), flow.Grant{
		Attempt: flow.Attempt{
			Tenant: tenant(),
			Server: flow.Server{
				TokenEndpoint: e.URL + "/token",
				Upstream:      flow.Upstream{Introspection: e.URL + "/introspect", Revocation: e.URL + "/revoke"},
			},
			Client: flow.Client{
				ClientID: "client", ClientAuthID: "auth-7", RawBasic: true,
				Callback: "https://us.example/callback",
			},
		},
		Code: secret.New("code"), Verifier: secret.New("verifier"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if set.ClientAuthID != "auth-7" || set.RevocationEndpoint != e.URL+"/revoke" ||
		set.IntrospectionEndpoint != e.URL+"/introspect" {
		t.Errorf("the set does not remember: %+v", set)
	}
	if set, err = portal.Refresh(t.Context(), tenant(), set); err != nil {
		t.Fatal(err)
	}
	if err := portal.Revoke(t.Context(), tenant(), set); err != nil {
		t.Fatal(err)
	}
	paths := []string{"/token", "/introspect", "/token", "/introspect", "/revoke"}
	want := make([]proof, 0, len(paths))
	for _, path := range paths {
		want = append(want, proof{tenant(), catalog.ClientUse{
			AuthID: "auth-7", ClientID: "client", TokenEndpoint: e.URL + "/token", Address: e.URL + path, RawBasic: true,
		}})
	}
	if diff := cmp.Diff(want, clients.asked); diff != "" {
		t.Errorf("proven (-want +got):\n%s", diff)
	}
	if asked := strings.Fields(e.paths()); !slices.Equal(asked, paths) {
		t.Errorf("asked %v, want %v", asked, paths)
	}
	forms := make([]url.Values, 0, len(paths))
	for _, r := range e.requests() {
		if r.Header.Get("Authorization") != "Basic proof" ||
			r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("%s was sent %v", r.URL.Path, r.Header)
		}
		forms = append(forms, r.PostForm)
	}
	about := query("token", "r", "token_type_hint", "refresh_token", "proof", "also in the form")
	if diff := cmp.Diff([]url.Values{
		query("grant_type", "authorization_code", "code", "code", "redirect_uri", "https://us.example/callback",
			"code_verifier", "verifier", "proof", "also in the form"),
		about,
		query("grant_type", "refresh_token", "refresh_token", "r", "proof", "also in the form"),
		about, about,
	}, forms); diff != "" {
		t.Errorf("forms (-want +got):\n%s", diff)
	}
}

func TestPortalSendsOnlyClientIDForPublicClient(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"/token": reply(http.StatusOK, `{"access_token":"a"}`)})
	clients, set := &proving{}, e.confidential()
	set.ClientAuthID, set.IntrospectionEndpoint = "", ""
	if _, err := portal(doer(), time.Now, clients).Refresh(t.Context(), tenant(), set); err != nil {
		t.Fatal(err)
	}
	want := query("grant_type", "refresh_token", "refresh_token", "refresh-maple", "client_id", "client")
	if diff := cmp.Diff(want, e.requests()[0].PostForm); diff != "" || len(clients.asked) != 0 {
		t.Errorf("asked for %v, form (-want +got):\n%s", clients.asked, diff)
	}
}

func TestPortalReturnsInternalErrorWhenClientAuthenticationFails(t *testing.T) {
	t.Parallel()
	for name, clients := range map[string]smart.Clients{
		"nothing to prove with": public{},
		"a secret is missing":   &proving{fails: fault.Missing("no such client authentication")},
		"the key does not sign": &proving{fails: fault.New(fault.Conflict, fault.CodeUnavailable, "busy")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusOK, `{"access_token":"a"}`)})
			portal := portal(doer(), time.Now, clients)
			_, err := portal.Refresh(t.Context(), tenant(), e.confidential())
			unspent, ok := errors.AsType[interface {
				error
				Unspent() bool
			}](err)
			if !ok || !unspent.Unspent() || errors.Is(err, tokens.ErrRefused) {
				t.Errorf("a refresh: %v, want it unspent and no refusal", err)
			}
			// A NotFound or Conflict error would be mistaken for a problem with the tokens.
			if errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) || !errors.Is(err, fault.Unavailable) {
				t.Errorf("%v is of another kind than unavailable", err)
			}
			if err = portal.Revoke(t.Context(), tenant(), e.confidential()); !errors.Is(err, fault.Unavailable) ||
				errors.Is(err, fault.NotFound) {
				t.Errorf("a revocation: %v", err)
			}
			_, err = portal.Exchange(t.Context(), flow.Grant{
				Attempt: flow.Attempt{
					Server: flow.Server{TokenEndpoint: e.URL},
					Client: flow.Client{ClientAuthID: "auth-7"},
				},
				Code: secret.New("code"),
			})
			if err == nil || len(e.requests()) != 0 {
				t.Errorf("%v after %d requests, want none", err, len(e.requests()))
			}
		})
	}
}

func TestExchangeOmitsVerifierWithoutChallenge(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"/token": reply(http.StatusOK, `{"access_token":"a","patient":"p"}`)})
	if _, err := e.signIn(t); err != nil || e.requests()[0].PostForm.Has("code_verifier") {
		t.Errorf("sent %v, %v", e.requests()[0].PostForm, err)
	}
}

func TestRefreshUpdatesAllEndpointsWhenTokenEndpointMoves(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{
		"/new": reply(http.StatusOK, `{"access_token":"a"}`),
		"/r4/.well-known/smart-configuration": reply(http.StatusOK, configuration(t, map[string]any{
			"token_endpoint": "SELF/new", "revocation_endpoint": "SELF/new/revoke",
		})),
	})
	set := e.confidential()
	set.ClientAuthID = ""
	got, err := portal(doer(), time.Now, public{}).Refresh(t.Context(), tenant(), set)
	if err != nil {
		t.Fatal(err)
	}
	if got.TokenEndpoint != e.URL+"/new" || got.RevocationEndpoint != e.URL+"/new/revoke" ||
		got.IntrospectionEndpoint != e.URL+"/introspect" {
		t.Errorf("got %s, %s, %s", got.TokenEndpoint, got.RevocationEndpoint, got.IntrospectionEndpoint)
	}
}

func TestTemporaryTokenErrorReportsRetryAfter(t *testing.T) {
	t.Parallel()
	const limited, upstream = fault.Limited, fault.Upstream
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		kind    fault.Kind // expected fault kind; empty if the error is only an *OAuthError
		wait    time.Duration
		unspent bool
	}{
		"429": {
			reply(http.StatusTooManyRequests, "", "Retry-After", "7"), limited,
			7 * time.Second, true,
		},
		"429 that does not say": {reply(http.StatusTooManyRequests, ""), limited, 0, true},
		"503": {
			reply(http.StatusServiceUnavailable, "<html>", "Retry-After", "120"), upstream,
			2 * time.Minute, false,
		},
		"503 with a code": {
			reply(http.StatusServiceUnavailable, `{"error":"invalid_client"}`, "Retry-After", "9"),
			upstream, 9 * time.Second, true,
		},
		"500": {reply(http.StatusInternalServerError, ""), upstream, 0, false},
		"408": {reply(http.StatusRequestTimeout, ""), upstream, 0, false},
		"400": {
			reply(http.StatusBadRequest, `{"error":"invalid_scope"}`, "Retry-After", "9"),
			"", 0, true,
		},
		"a page": {reply(http.StatusOK, "<html>"), "", 0, false},
		"a refusal, whatever status": {
			reply(http.StatusTooManyRequests, `{"error":"invalid_grant"}`, "Retry-After", "9"),
			"", 0, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"/token": test.answer})
			_, err := e.refresh(t, "/token")
			refusal, ok := errors.AsType[*smart.OAuthError](err)
			if !ok || refusal.Unspent() != test.unspent {
				t.Fatalf("%v, want it unspent: %t", err, test.unspent)
			}
			passing, ok := errors.AsType[*fault.Error](err)
			if ok != (test.kind != "") || ok && (passing.Kind != test.kind || passing.RetryAfter != test.wait) {
				t.Errorf("got %#v, want %q with %v", passing, test.kind, test.wait)
			}
			if strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("the error names the server: %v", err)
			}
		})
	}
}

// TestInvalidClientErrorReportsAmbiguousBasicEncoding covers credentials that were encoded as in RFC 6749 section
// 2.3.1, and unencoded credentials that this encoding would change.
func TestInvalidClientErrorReportsAmbiguousBasicEncoding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		secret, code string
		form, want   bool
	}{
		"plain":                       {"Secret-9._~", "invalid_client", false, false},
		"encoded":                     {"a%2Bb", "invalid_client", false, true},
		"raw":                         {"a/b", "invalid_client", false, true},
		"another refusal":             {"a%2Bb", "invalid_grant", false, false},
		"a secret that stands beside": {"a%2Bb", "invalid_client", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"/token": reply(http.StatusUnauthorized, `{"error":"`+c.code+`"}`)})
			var line strings.Builder
			ctx, event := logx.Begin(t.Context())
			_, err := portal(doer(), time.Now, basic{c.secret, c.form}).Exchange(ctx, flow.Grant{
				Attempt: flow.Attempt{
					Tenant: tenant(),
					Server: flow.Server{TokenEndpoint: e.URL + "/token"},
					Client: flow.Client{ClientID: "client", ClientAuthID: "auth-7"},
				},
				Code: secret.New("code"),
			})
			event.Emit(ctx, logx.New(&line), "test")
			refusal, ok := errors.AsType[*flow.PortalError](err)
			if !ok || refusal.Code != c.code || refusal.AmbiguousBasic != c.want {
				t.Errorf("got %+v", err)
			}
			if told := strings.Contains(line.String(), `"basic_ambiguous":true`); told != c.want ||
				strings.Contains(line.String(), c.secret) {
				t.Errorf("the log says %s", line.String())
			}
		})
	}
}

// basic authenticates clients with an unencoded secret, in HTTP Basic or in the form.
type basic struct {
	secret string
	form   bool
}

func (b basic) Authenticate(_ context.Context, _ org.Tenant, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	if b.form {
		form.Set("client_secret", b.secret)
		return nil
	}
	(&http.Request{Header: header}).SetBasicAuth(use.ClientID, b.secret)
	return nil
}
