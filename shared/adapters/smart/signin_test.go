package smart_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/flow"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// fakePortal is an authorization server that accepts each code once, and only with the matching code verifier.
type fakePortal struct {
	*ehr

	mu    sync.Mutex
	codes map[string]url.Values // authorization requests, keyed by code
	token http.HandlerFunc      // replaces the token endpoint, if set
	nonce string                // replaces the request's nonce, if set
}

func newFakePortal(t *testing.T) *fakePortal {
	t.Helper()
	h := &fakePortal{codes: map[string]url.Values{}}
	h.ehr = newEHR(t, map[string]http.HandlerFunc{
		"/r4/.well-known/smart-configuration": reply(http.StatusOK, configuration(t, map[string]any{
			"issuer": "SELF", "authorization_endpoint": "SELF/authorize", "token_endpoint": "SELF/token",
			"jwks_uri": "SELF/keys",
			"authorization_response_iss_parameter_supported": true, "capabilities": []string{"permission-v2"},
		})),
		"/keys":  reply(http.StatusOK, keySet(t)),
		"/token": func(w http.ResponseWriter, r *http.Request) { h.answer(t, w, r) },
	})
	return h
}

// signIn completes the sign-in at the portal and returns the authorization code.
func (h *fakePortal) signIn(t *testing.T, address string) (code string) {
	t.Helper()
	asked, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, h.URL+"/authorize?") {
		t.Fatalf("sent to %s, %v", address, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	code = ids.Random()
	h.codes[code] = asked.Query()
	return code
}

func (h *fakePortal) answer(t *testing.T, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.token != nil {
		h.token(w, r)
		return
	}
	asked, ok := h.codes[r.PostForm.Get("code")]
	delete(h.codes, r.PostForm.Get("code"))
	if !ok || asked.Get("code_challenge") != challengeOf(r.PostForm.Get("code_verifier")) ||
		asked.Get("redirect_uri") != r.PostForm.Get("redirect_uri") || asked.Get("client_id") != r.PostForm.Get("client_id") {
		reply(http.StatusBadRequest,
			`{"error":"invalid_grant","error_description":"Alder Maple, code of somebody else"}`)(w, r)
		return
	}
	told := asked.Get("nonce")
	if h.nonce != "" {
		told = h.nonce
	}
	reply(http.StatusOK, marshal(t, map[string]any{
		"access_token": "access", "refresh_token": "refresh", "token_type": "Bearer", "expires_in": "3600",
		"scope": asked.Get("scope"),
		"id_token": sign(t, "p256", map[string]any{"alg": "ES256", "kid": "p256"},
			claims(map[string]any{"iss": h.URL, "nonce": told})),
	}))(w, r)
}

// challengeOf returns a verifier's S256 challenge (RFC 7636 section 4.2).
func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (h *fakePortal) exchanges() int { return strings.Count(h.paths(), "/token") }

// ourSide combines the service's components with in-memory stores and no encryption.
type ourSide struct {
	mu        sync.Mutex
	base      string
	attempts  map[string]flow.Attempt
	states    map[string]binding.State
	concluded []flow.Conclusion
}

func (d *ourSide) BeginAttempt(_ context.Context, attempt flow.Attempt, state binding.State) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.attempts[attempt.ID], d.states[state.Hash] = attempt, state
	return nil
}

func (d *ourSide) TakeState(_ context.Context, hash, bound string, now time.Time) (binding.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	state, ok := d.states[hash]
	if !ok || state.BindingHash != bound || !now.Before(state.ExpiresAt) {
		return binding.State{}, fault.Missing("no state")
	}
	delete(d.states, hash)
	return state, nil
}

func (d *ourSide) Attempt(_ context.Context, _ org.Tenant, id string) (flow.Attempt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.attempts[id], nil
}

func (*ourSide) Ticket(context.Context, string, time.Time) (binding.Ticket, error) {
	return binding.Ticket{}, fault.Missing("no ticket")
}

func (*ourSide) OpenAttempt(context.Context, binding.Ticket, flow.Attempt, binding.State) error {
	return fault.Stale()
}

func (*ourSide) TokenVersion(context.Context, org.Tenant, string) (int64, error) { return 0, nil }

func (d *ourSide) ConcludeAttempt(_ context.Context, c flow.Conclusion) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.concluded = append(d.concluded, c)
	return nil
}

func (d *ourSide) Endpoint(_ context.Context, id string) (catalog.Endpoint, error) {
	return catalog.Endpoint{
		ID: id, BrandID: ids.Derive("brand"), PortalID: ids.Derive("portal"), FHIRBase: d.base, PlatformType: "sandbox",
		Mode: "test", Status: catalog.EndpointActive,
	}, nil
}

func (*ourSide) Way(context.Context, string, string) (catalog.Way, error) {
	return catalog.Way{}, fault.Missing("no way")
}

func (*ourSide) Registration(context.Context, org.Tenant, catalog.Endpoint) (catalog.Registration, error) {
	return catalog.Registration{ClientID: "client"}, nil
}

func (*ourSide) Seal(_ context.Context, _ org.Tenant, _ string, plain []byte) ([]byte, error) {
	return plain, nil
}

func (*ourSide) Open(_ context.Context, _ org.Tenant, _ string, sealed []byte) ([]byte, error) {
	return sealed, nil
}

func (*ourSide) EnqueueEvent(context.Context, org.Tenant, string) error { return nil }

// visitor holds a browser's authorization request and cookie during a sign-in.
type visitor struct {
	portal        string
	state         string
	cookie, value string
}

func (d *ourSide) connect(t *testing.T) visitor {
	t.Helper()
	redirect, err := org.MatchRedirect(ownhosts.Own(), []string{"https://app.example/back"}, "https://app.example/back")
	if err != nil {
		t.Fatal(err)
	}
	registry, err := platform.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	started, err := flow.Starter{
		Preparation: flow.Preparation{
			Catalog: d, Connections: flow.NoConnections{}, Portal: smart.NewAuthorizer(doer(), rand.Reader, time.Now),
			Platforms: registry, BaseURL: "https://us.example", Now: time.Now, NewID: ids.Random, Random: rand.Reader,
		},
		Store: d, Sealer: d,
	}.Start(t.Context(), flow.Request{
		Caller: org.Caller{Tenant: org.Tenant{Mode: org.Test, OrgID: ids.Random()}}, Redirect: redirect,
		EndpointID: ids.Random(),
	})
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(started.URL)
	if err != nil {
		t.Fatal(err)
	}
	return visitor{
		portal: started.URL, state: address.Query().Get("state"), cookie: started.CookieName,
		value: started.CookieValue.Reveal(),
	}
}

// comeBack completes the visitor's attempt with the given callback parameters.
func (d *ourSide) comeBack(t *testing.T, v visitor, code, iss string) (flow.Completed, error) {
	t.Helper()
	ring, err := secret.ParseKeyring(secret.New(`{"current":"1","1":"` + strings.Repeat("k", 43) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	return flow.Completer{
		Own:   ownhosts.Own(),
		Store: d, Connections: flow.NoConnections{}, Portal: portal(doer(), time.Now, public{}), Sealer: d,
		Vault: tokens.Vault{Sealer: d}, Hashing: ring, Enqueuer: d,
		BaseURL: "https://us.example", Now: time.Now, NewID: ids.Random,
	}.Complete(t.Context(), flow.Return{
		State: v.state, Code: secret.New(code), Issuer: iss, Cookie: func(name string) string {
			if name == v.cookie {
				return v.value
			}
			return ""
		},
	})
}

func newOurSide(h *fakePortal) *ourSide {
	return &ourSide{base: h.URL + "/r4", attempts: map[string]flow.Attempt{}, states: map[string]binding.State{}}
}

// wantRefused checks that an attack created no connection, and that the error contains none of the portal's text.
func (d *ourSide) wantRefused(t *testing.T, err error, code fault.Code) {
	t.Helper()
	failure := fault.Of(err)
	if err == nil || failure.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
	for _, c := range d.concluded {
		if c.Connection.ID != "" || len(c.Tokens.Sealed) > 0 {
			t.Errorf("a connection was made: %+v", c.Connection)
		}
	}
	if err != nil && strings.Contains(err.Error()+failure.Public, "Maple") {
		t.Errorf("the portal's text got out: %v", err)
	}
}

func TestSignInCompletesWithStrictServer(t *testing.T) {
	t.Parallel()
	h := newFakePortal(t)
	d := newOurSide(h)
	v := d.connect(t)
	if _, err := d.comeBack(t, v, h.signIn(t, v.portal), h.URL); err != nil {
		t.Fatal(err)
	}
	set, err := tokens.Vault{Sealer: d}.Open(t.Context(), d.concluded[0].Tokens)
	if err != nil || set.PatientID.Reveal() != "of-id-token" ||
		d.concluded[0].Connection.Scope != "openid fhirUser launch/patient offline_access patient/*.rs" {
		t.Errorf("patient %q, scope %q, %v", set.PatientID.Reveal(), d.concluded[0].Connection.Scope, err)
	}
	// The same browser sends the same state again but with a new code.
	before := h.exchanges()
	if _, err := d.comeBack(t, v, h.signIn(t, v.portal), h.URL); fault.Of(err).Code != fault.CodeInvalidRequest ||
		h.exchanges() != before {
		t.Errorf("a replayed state: %v after %d more exchanges", err, h.exchanges()-before)
	}
}

func TestSignInRejectsCallbackFromAnotherBrowser(t *testing.T) {
	t.Parallel()
	h := newFakePortal(t)
	d := newOurSide(h)
	attacker, victim := d.connect(t), d.connect(t)
	code := h.signIn(t, attacker.portal) // the victim signs in at the attacker's authorization URL
	victim.state = attacker.state
	_, err := d.comeBack(t, victim, code, h.URL)
	d.wantRefused(t, err, fault.CodeInvalidRequest)
	victim.cookie = attacker.cookie // the cookie's name is right but its value is wrong
	_, err = d.comeBack(t, victim, code, h.URL)
	d.wantRefused(t, err, fault.CodeInvalidRequest)
	if h.exchanges() != 0 {
		t.Errorf("%d codes were exchanged", h.exchanges())
	}
}

func TestSignInRejectsCodeFromAnotherSignIn(t *testing.T) {
	t.Parallel()
	h := newFakePortal(t)
	d := newOurSide(h)
	victim, attacker := d.connect(t), d.connect(t)
	_, err := d.comeBack(t, attacker, h.signIn(t, victim.portal), h.URL)
	d.wantRefused(t, err, "invalid_grant")
}

func TestSignInRejectsIDTokenFromAnotherSignIn(t *testing.T) {
	t.Parallel()
	h := newFakePortal(t)
	d := newOurSide(h)
	h.nonce = "of the attacker's own sign-in"
	v := d.connect(t)
	_, err := d.comeBack(t, v, h.signIn(t, v.portal), h.URL)
	d.wantRefused(t, err, fault.CodeTokenExchange)
}

func TestSignInRejectsMismatchedIssuer(t *testing.T) {
	t.Parallel()
	h, evil := newFakePortal(t), newFakePortal(t)
	for name, iss := range map[string]string{
		"the other's iss": evil.URL, "no iss": "",
		"nearly the right one": h.URL + "/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newOurSide(h)
			v := d.connect(t)
			_, err := d.comeBack(t, v, h.signIn(t, v.portal), iss)
			d.wantRefused(t, err, fault.CodeInvalidRequest)
			if h.exchanges()+evil.exchanges() != 0 {
				t.Error("a code was sent somewhere")
			}
		})
	}
}

func TestSignInReportsExchangeFailureWithoutPortalText(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		token http.HandlerFunc
		code  fault.Code
	}{
		"a web page":            {reply(http.StatusOK, "<html>Alder Maple</html>"), fault.CodeTokenExchange},
		"a web page that fails": {reply(http.StatusBadGateway, "<html>Alder Maple</html>"), fault.CodeTokenExchange},
		"no token":              {reply(http.StatusOK, `{"hint":"Alder Maple"}`), fault.CodeTokenExchange},
		"a redirect": {
			reply(http.StatusTemporaryRedirect, "", "Location", "SELF/keys?Maple"),
			fault.CodeTokenExchange,
		},
		"too much": {reply(http.StatusOK, strings.Repeat("Maple ", 100<<10)), fault.CodeTokenExchange},
		"404":      {reply(http.StatusNotFound, "Maple"), fault.CodeTokenExchange},
		"an error of its own": {
			reply(http.StatusBadRequest, `{"error":"Alder Maple is unknown"}`),
			fault.CodeTokenExchange,
		},
		"a malformed request": {
			reply(http.StatusBadRequest, `{"error":"invalid_request","error_description":"Maple"}`),
			fault.CodeTokenExchange,
		},
		"an unknown client": {
			reply(http.StatusUnauthorized, `{"error":"invalid_client","error_description":"Maple"}`),
			"invalid_client",
		},
		"a client that may not":   {reply(http.StatusBadRequest, `{"error":"unauthorized_client"}`), "unauthorized_client"},
		"a scope that is refused": {reply(http.StatusBadRequest, `{"error":"invalid_scope"}`), "invalid_scope"},
		"another grant": {
			reply(http.StatusBadRequest, `{"error":"unsupported_grant_type"}`),
			"unsupported_grant_type",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFakePortal(t)
			h.token = test.token
			d := newOurSide(h)
			v := d.connect(t)
			_, err := d.comeBack(t, v, h.signIn(t, v.portal), h.URL)
			d.wantRefused(t, err, test.code)
			if h.exchanges() != 1 {
				t.Errorf("%d exchanges, want 1: a code works once", h.exchanges())
			}
		})
	}
}
