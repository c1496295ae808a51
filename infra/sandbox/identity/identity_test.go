package identity_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/sandbox"
	provider "recordbridge/infra/sandbox/identity"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
	"recordbridge/shared/connect/binding"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/tefca/identity/oidc"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/secret"
)

const (
	base     = "https://us.example"
	callback = base + identity.CallbackPath + "/simulated"
	verifier = "a-verifier-of-at-least-forty-three-characters-1"
	nonce    = "nonce-1"
)

// world holds an in-process sandbox and the service's relying party, with an adjustable clock.
type world struct {
	http.Handler
	oidc.RelyingParty

	clock *atomic.Int64
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{clock: &atomic.Int64{}}
	w.clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	handler, err := sandbox.New(sandbox.Deps{
		BaseURL: base + "/sandbox", Personas: persona.Builtin(), Clients: []oauth.Client{
			{ID: identity.SimulatedClient, RedirectURIs: []string{callback}},
			{ID: "another", RedirectURIs: []string{"https://other.example/back"}},
		},
		Store: memstore.New(), Now: w.now, Random: rand.Reader, AccessTokenTTL: time.Hour, CodeTTL: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Handler = handler
	w.RelyingParty = oidc.NewRelyingParty(w, nil, w.now)

	return w
}

// Do implements oidc.Doer.
func (w world) Do(request *http.Request) (*http.Response, error) {
	recorded := httptest.NewRecorder()
	w.ServeHTTP(recorded, request)

	return recorded.Result(), nil
}

func (w world) now() time.Time { return time.Unix(w.clock.Load(), 0).UTC() }

func (w world) pass(d time.Duration) { w.clock.Add(int64(d.Seconds())) }

func (w world) get(address, languages string) *httptest.ResponseRecorder {
	recorded := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, address, nil)
	request.Header.Set("Accept-Language", languages)
	w.ServeHTTP(recorded, request)

	return recorded
}

func (w world) post(t *testing.T, address string, form url.Values) (int, map[string]any) {
	t.Helper()
	recorded := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w.ServeHTTP(recorded, request)
	var answer map[string]any
	if err := json.Unmarshal(recorded.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}

	return recorded.Code, answer
}

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))

	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// leave starts an attempt, and returns the provider URL to open in the browser and the pinned provider.
func (w world) leave(t *testing.T) (string, identity.Authority) {
	t.Helper()
	left, pinned, err := w.Begin(t.Context(), identity.Simulated(base), identity.Request{
		RedirectURI: callback, State: "state-1", Nonce: nonce, Challenge: challenge(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(left, base+"/sandbox/identity/authorize?") || strings.Contains(left, nonce) {
		t.Errorf("left for %s", left)
	}

	return left, pinned
}

// returned returns the query parameters of the relying party's URL to which the browser is redirected.
func returned(t *testing.T, answered *httptest.ResponseRecorder) url.Values {
	t.Helper()
	address, err := url.Parse(answered.Header().Get("Location"))
	if answered.Code != http.StatusFound || err != nil || !strings.HasPrefix(address.String(), callback+"?") {
		t.Fatalf("status %d to %q, %v", answered.Code, answered.Header().Get("Location"), err)
	}
	if got := address.Query(); got.Get("state") != "state-1" || got.Get("iss") != base+"/sandbox/identity" {
		t.Errorf("returned with %v", got)
	}

	return address.Query()
}

// comeBack exchanges the code in the browser's callback parameters.
func (w world) comeBack(t *testing.T, pinned identity.Authority, told url.Values) (tefca.Assertion, error) {
	t.Helper()

	return w.Exchange(t.Context(), pinned, identity.Return{
		Provider: "simulated",
		Code:     secret.New(told.Get("code")), Issuer: told.Get("iss"), Error: told.Get("error"),
		Verifier:  secret.New(verifier),
		NonceHash: binding.Hash(nonce),
	})
}

func TestProviderVerifiesPatientsWithEachClaimFormat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, patient := range people.All() {
		for _, shape := range append(provider.Shapes, "") {
			left, pinned := w.leave(t)
			told := returned(t, w.get(left+"&person="+patient.Subject+"&decision=approve&shape="+shape, ""))
			who, err := w.comeBack(t, pinned, told)
			if err != nil {
				t.Fatalf("%s in %s: %v", patient.Subject, shape, err)
			}
			if diff := cmp.Diff(patient.Person, who.Person); diff != "" || who.Subject != patient.Subject || who.Level != 2 {
				t.Errorf("%s in %s: subject %s, level %d (-want +got):\n%s", patient.Subject, shape, who.Subject, who.Level, diff)
			}
			if who.ExpiresAt.Sub(w.now()) != 15*time.Minute {
				t.Errorf("ends at %v", who.ExpiresAt)
			}
		}
	}
}

func TestFaultsProduceExpectedCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	causes := map[string]string{
		"none": "", "low-level": "level_too_low", "expires-soon": "", "expired": "identity_expired",
		"old-session": "token_invalid", "wrong-audience": "token_invalid",
		"wrong-nonce": "token_invalid", "wrong-issuer": "token_invalid", "bad-signature": "token_invalid",
		"unknown-key":   "token_invalid",
		"no-birth-date": "demographics_missing", "no-address": "demographics_missing", "unavailable": "provider_unavailable",
		"token-fails": "provider_unavailable",
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(causes)), slices.Sorted(slices.Values(provider.Faults))); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	for fault, cause := range causes {
		for _, shape := range provider.Shapes {
			left, pinned := w.leave(t)
			told := returned(t, w.get(left+"&person=p01&decision=approve&fault="+fault+"&shape="+shape, ""))
			who, err := w.comeBack(t, pinned, told)
			if identity.CauseOf(err) != cause || (err == nil) != (cause == "") {
				t.Errorf("%s in %s: %v, want %q", fault, shape, err, cause)
			}
			if fault == "expires-soon" && who.ExpiresAt.Sub(w.now()) != 20*time.Second {
				t.Errorf("%s: ends at %v", fault, who.ExpiresAt)
			}
		}
	}
}

func TestDenialRedirectsToClientWithError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	left, pinned := w.leave(t)
	if _, err := w.comeBack(t, pinned, returned(t,
		w.get(left+"&decision=decline", ""))); identity.CauseOf(err) != "declined" {
		t.Error(err)
	}
}

func form(code string) url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier},
		"client_id": {identity.SimulatedClient},
	}
}

func (w world) code(t *testing.T) string {
	t.Helper()
	left, _ := w.leave(t)

	return returned(t, w.get(left+"&person=p01&decision=approve", "")).Get("code")
}

func TestAuthorizationCodeIsSingleUseAndBoundToClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := base + "/sandbox/identity/token"
	code := w.code(t)
	for name, change := range map[string]url.Values{
		"another client": {"client_id": {"another"}}, "no client": {"client_id": {}},
		"another address":  {"redirect_uri": {callback + "/"}},
		"another verifier": {"code_verifier": {strings.ToUpper(verifier)}}, "no verifier": {"code_verifier": {}},
		"another code":  {"code": {"x"}},
		"another grant": {"grant_type": {"refresh_token"}}, "two codes": {"code": {code, code}},
	} {
		wrong := form(code)
		maps.Copy(wrong, change)
		if status, answer := w.post(t, token, wrong); status != http.StatusBadRequest || answer["error"] == nil {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
	w.pass(59 * time.Second)
	var got sync.Map
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			status, _ := w.post(t, token, form(code))
			got.Store(i, status)
		})
	}
	all.Wait()
	good := 0
	got.Range(func(_, status any) bool {
		if status == http.StatusOK {
			good++
		}

		return true
	})
	if good != 1 {
		t.Errorf("of 20 exchanges %d got a token", good)
	}
	late := w.code(t)
	w.pass(time.Minute)
	if status, _ := w.post(t, token, form(late)); status != http.StatusBadRequest {
		t.Errorf("after a minute: %d", status)
	}
}

func request() url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {identity.SimulatedClient}, "redirect_uri": {callback}, "scope": {"openid"},
		"state": {"state-1"},
		"nonce": {nonce}, "code_challenge": {challenge()}, "code_challenge_method": {"S256"},
	}
}

func TestProviderRejectsInvalidPlainAndPushedRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	authorize, par := base+"/sandbox/identity/authorize?", base+"/sandbox/identity/par"
	returned(t, w.get(authorize+request().Encode()+"&person=p01&decision=approve", ""))
	for name, test := range map[string]struct {
		change url.Values
		shown  bool // an error page is shown, because the redirect URI has not been verified
	}{
		"another client's address": {url.Values{"redirect_uri": {"https://other.example/back"}}, true},
		"an unknown client":        {url.Values{"client_id": {"x"}}, true},
		"a longer address":         {url.Values{"redirect_uri": {callback + "/x"}}, true},
		"no state":                 {url.Values{"state": {}}, false},
		"no nonce":                 {url.Values{"nonce": {}}, false},
		"no challenge":             {url.Values{"code_challenge": {}}, false},
		"a plain challenge":        {url.Values{"code_challenge_method": {"plain"}}, false},
		"another response":         {url.Values{"response_type": {"token"}}, false},
		"no openid":                {url.Values{"scope": {"profile"}}, false},
		"two scopes":               {url.Values{"scope": {"openid", "openid"}}, false},
	} {
		wrong := request()
		maps.Copy(wrong, test.change)
		answered := w.get(authorize+wrong.Encode()+"&person=p01&decision=approve", "")
		location := answered.Header().Get("Location")
		if test.shown && (answered.Code != http.StatusBadRequest || location != "") || !test.shown &&
			!strings.HasPrefix(location, callback+"?error=") {
			t.Errorf("%s: %d to %q", name, answered.Code, location)
		}
		if status, answer := w.post(t, par, wrong); status != http.StatusBadRequest || answer["error"] == nil {
			t.Errorf("%s, pushed: %d %v", name, status, answer)
		}
	}
}

func TestPushedRequestOverridesURLParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	left, _ := w.leave(t)
	told := returned(t,
		w.get(left+"&state=another&redirect_uri=https%3A%2F%2Fevil.example&person=p01&decision=approve", ""))
	if told.Get("code") == "" {
		t.Error("no code")
	}
	for name, address := range map[string]string{
		"another client's": strings.Replace(left, identity.SimulatedClient, "another", 1), "no such request": left + "x",
		"an unknown shape":  left + "&person=p01&decision=approve&shape=x",
		"an unknown fault":  left + "&person=p01&decision=approve&fault=x",
		"an unknown person": left + "&person=x&decision=approve", "an unknown decision": left + "&person=p01&decision=x",
	} {
		if answered := w.get(address, ""); answered.Code != http.StatusBadRequest || answered.Header().Get("Location") != "" {
			t.Errorf("%s: %d", name, answered.Code)
		}
	}
	w.pass(10 * time.Minute)
	if answered := w.get(left+"&person=p01&decision=approve", ""); answered.Code != http.StatusBadRequest {
		t.Errorf("after ten minutes: %d", answered.Code)
	}
}

func TestAuthorizePageListsPatientsInBrowserLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	left, _ := w.leave(t)
	for languages, want := range map[string]string{
		"": "en", "es-MX,es;q=0.9,en;q=0.8": "es", "de, es;q=0.5": "es",
		"en-US,es": "en", "fr": "en",
	} {
		answered := w.get(left, languages)
		page := answered.Body.String()
		if answered.Code != http.StatusOK || !strings.Contains(page, `"language":"`+want+`"`) {
			t.Errorf("%q: %d", languages, answered.Code)
		}
		for _, patient := range people.All() {
			if !strings.Contains(page, fmt.Sprintf("%q", patient.Story)) {
				t.Errorf("%s is not on the page", patient.Subject)
			}
		}
		policy := answered.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			answered.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("headers %v", answered.Header())
		}
	}
	script := w.get(base+"/sandbox/identity/assets/identity.js", "").Body.String()
	for _, word := range append(provider.Shapes, provider.Faults...) {
		if strings.Count(script, `"`+word+`":`) != 2 {
			t.Errorf("%s is not told in both languages", word)
		}
	}
	if answered := w.get(base+"/sandbox/oauth/assets/authorize.css", ""); answered.Code != http.StatusOK {
		t.Errorf("the style: %d", answered.Code)
	}
}

func TestProviderRejectsUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"", "x", "assets/x", "authorize/x"} {
		if answered := w.get(base+"/sandbox/identity/"+path, ""); answered.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, answered.Code)
		}
	}
	if answered := w.get(base+"/sandbox/identity/token", ""); answered.Code != http.StatusMethodNotAllowed ||
		answered.Header().Get("Allow") != http.MethodPost {
		t.Errorf("%d %v", answered.Code, answered.Header())
	}
}
