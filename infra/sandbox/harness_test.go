package sandbox_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/memstore"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
)

const (
	clientID     = sandbox.DefaultClientID
	redirectURI  = "https://recordbridge.example/v1/bridge/callback"
	secretClient = "confidential app"
	clientSecret = "s3cret: with / odd + characters"
	verifier     = "a-verifier-of-at-least-forty-three-characters-1"
	accessTTL    = time.Hour
	codeTTL      = time.Minute
	allScopes    = "launch/patient offline_access patient/*.rs"
)

// wire sends requests to a sandbox on a real HTTP server with an adjustable clock.
type wire struct {
	t      *testing.T
	base   string
	fhir   string
	client *http.Client
	clock  *atomic.Int64
}

type oauthClient struct{ wire }

// portal gives a test the same access to a sandbox and its records that an application has.
type portal struct{ oauthClient }

func newPortal(t *testing.T, change ...func(*sandbox.Deps)) *portal {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String() + "/v1/sandbox"
	clock := &atomic.Int64{}
	clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Unix())
	deps := usual(base, func() time.Time { return time.Unix(clock.Load(), 0) })
	for _, c := range change {
		c(&deps)
	}
	handler, err := sandbox.New(deps)
	if err != nil {
		t.Fatalf("sandbox.New: %v", err)
	}
	server.Config.Handler = handler
	server.Start()
	t.Cleanup(server.Close)

	client := server.Client() // unlike http.DefaultClient, not affected when other servers close
	client.CheckRedirect = stay
	return &portal{oauthClient{wire{t: t, base: base, fhir: base + "/fhir", clock: clock, client: client}}}
}

func usual(base string, now func() time.Time) sandbox.Deps {
	return sandbox.Deps{
		BaseURL: base, Personas: persona.Builtin(),
		Clients: []oauth.Client{
			{ID: clientID, RedirectURIs: []string{redirectURI, redirectURI + "?tenant=1"}},
			{ID: "second-app", RedirectURIs: []string{redirectURI}},
			{ID: secretClient, Secret: clientSecret, RedirectURIs: []string{redirectURI}},
		},
		Store: memstore.New(), Now: now, Random: rand.Reader, AccessTokenTTL: accessTTL, CodeTTL: codeTTL,
		Logger: slog.New(slog.DiscardHandler),
	}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// in returns a copy of p that reports failures to t.
func (p *portal) in(t *testing.T) *portal {
	t.Helper()
	mine := *p
	mine.t = t

	return &mine
}

func (p *wire) advance(d time.Duration) { p.clock.Add(int64(d.Seconds())) }

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatalf("body is not JSON: %v\n%.300s", err, a.body)
	}

	return body
}

func (p *wire) do(request *http.Request) answer {
	p.t.Helper()
	response, err := p.client.Do(request)
	if err != nil {
		p.t.Fatalf("%s %s: %v", request.Method, request.URL.Path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatalf("read body: %v", err)
	}

	return answer{response.StatusCode, response.Header, body}
}

func (p *wire) request(method, address string, body io.Reader) *http.Request {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, address, body)
	if err != nil {
		p.t.Fatalf("new request: %v", err)
	}

	return request
}

// get requests an absolute URL. headers contains alternating names and values.
func (p *wire) get(address string, headers ...string) answer {
	p.t.Helper()
	request := p.request(http.MethodGet, address, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}

	return p.do(request)
}

func (p *wire) read(token, path string, headers ...string) answer {
	p.t.Helper()

	return p.get(p.fhir+"/"+path, append([]string{"Authorization", "Bearer " + token}, headers...)...)
}

func (p *wire) post(path string, form url.Values, headers ...string) answer {
	p.t.Helper()
	request := p.request(http.MethodPost, p.base+path, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}

	return p.do(request)
}

// authorizeQuery returns the parameters of a valid authorization request, overridden by pairs of names and values. An
// empty value removes a parameter.
func (p *oauthClient) authorizeQuery(pairs ...string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {redirectURI}, "state": {"st-1"},
		"scope": {allScopes}, "aud": {p.fhir}, "code_challenge_method": {"S256"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			query.Del(pairs[i])
		}
	}

	return query
}

func (p *oauthClient) authorize(pairs ...string) answer {
	p.t.Helper()

	return p.get(p.base + "/oauth/authorize?" + p.authorizeQuery(pairs...).Encode())
}

// landing returns the query parameters of the client URL to which the browser is redirected.
func (p *oauthClient) landing(a answer) url.Values {
	p.t.Helper()
	location, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusFound {
		p.t.Fatalf("no redirect: status %d, Location %q, %v\n%s", a.status, a.header.Get("Location"), err, a.body)
	}

	return location.Query()
}

func (p *oauthClient) code(personaID string, pairs ...string) string {
	p.t.Helper()
	code := p.landing(p.authorize(append([]string{"persona", personaID, "decision", "approve"}, pairs...)...)).Get("code")
	if code == "" {
		p.t.Fatal("the redirect carries no code")
	}

	return code
}

// exchangeForm returns the form of a valid code exchange, overridden by pairs of names and values. An empty value
// removes a parameter.
func exchangeForm(code string, pairs ...string) url.Values {
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirectURI},
		"client_id": {clientID}, "code_verifier": {verifier},
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
		if pairs[i+1] == "" {
			form.Del(pairs[i])
		}
	}

	return form
}

type tokens struct {
	Access    string `json:"access_token"`
	Refresh   string `json:"refresh_token"`
	Type      string `json:"token_type"`
	Scope     string `json:"scope"`
	Patient   string `json:"patient"`
	ExpiresIn int64  `json:"expires_in"`
}

func (p *oauthClient) tokens(a answer) tokens {
	p.t.Helper()
	var got tokens
	if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK || got.Access == "" {
		p.t.Fatalf("no tokens: status %d, %v\n%s", a.status, err, a.body)
	}

	return got
}

func (p *oauthClient) connect(personaID string, pairs ...string) tokens {
	p.t.Helper()

	return p.tokens(p.post("/oauth/token", exchangeForm(p.code(personaID, pairs...))))
}

func (p *oauthClient) refresh(token string, pairs ...string) answer {
	p.t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {clientID}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}

	return p.post("/oauth/token", form)
}

func wantError(t *testing.T, a answer, status int, code string) {
	t.Helper()
	if got := a.json(t)["error"]; a.status != status || got != code {
		t.Errorf("got %d %v, want %d %s\n%s", a.status, got, status, code, a.body)
	}
}

func wantOutcome(t *testing.T, a answer, status int, code string) {
	t.Helper()
	var got struct {
		ResourceType string `json:"resourceType"`
		Issue        []struct {
			Code string `json:"code"`
		} `json:"issue"`
	}
	if err := json.Unmarshal(a.body, &got); err != nil {
		t.Fatalf("status %d, body is not JSON: %v\n%.300s", a.status, err, a.body)
	}
	if a.status != status || got.ResourceType != "OperationOutcome" || len(got.Issue) != 1 || got.Issue[0].Code != code {
		t.Errorf("got %d %.300s, want %d OperationOutcome %s", a.status, a.body, status, code)
	}
}

// inProcess is a client transport that calls a handler directly, without sockets.
type inProcess struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody // a server request's Body is never nil
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	return w.Result(), nil
}

// newInProcess is like newPortal but uses the real clock and no sockets, so it works in a synctest bubble.
func newInProcess(t *testing.T) *portal {
	t.Helper()
	deps := usual("http://ehr.example/sandbox", time.Now)
	handler, err := sandbox.New(deps)
	if err != nil {
		t.Fatal(err)
	}

	return &portal{oauthClient{wire{
		t: t, base: deps.BaseURL, fhir: deps.BaseURL + "/fhir",
		client: &http.Client{Transport: inProcess{handler}, CheckRedirect: stay},
	}}}
}
