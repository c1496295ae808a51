package sandbox_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/persona"
)

func TestAuthorizeNeverRedirectsToUnregisteredURI(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for name, pairs := range map[string][]string{
		"unknown client":         {"client_id", "nobody"},
		"no client":              {"client_id", ""},
		"no redirect":            {"redirect_uri", ""},
		"other host":             {"redirect_uri", "https://evil.example/"},
		"longer path":            {"redirect_uri", redirectURI + "/x"},
		"extra query":            {"redirect_uri", redirectURI + "?x=1"},
		"other case":             {"redirect_uri", strings.ToUpper(redirectURI)},
		"confidential, no match": {"client_id", secretClient, "redirect_uri", redirectURI + "?tenant=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine := p.in(t)
			a := mine.authorize(append(pairs, "persona", "alder-maple", "decision", "approve")...)
			if a.status != http.StatusBadRequest || a.header.Get("Location") != "" {
				t.Errorf("got %d Location %q, want 400 without Location", a.status, a.header.Get("Location"))
			}
			if got := a.header.Get("Content-Type"); got != "text/html; charset=utf-8" {
				t.Errorf("Content-Type = %q, want a page", got)
			}
		})
	}
}

func TestAuthorizeRedirectsErrorsToClient(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for name, c := range map[string]struct {
		pairs []string
		want  string
	}{
		"no response_type":        {[]string{"response_type", ""}, "invalid_request"},
		"implicit flow":           {[]string{"response_type", "token"}, "unsupported_response_type"},
		"no state":                {[]string{"state", ""}, "invalid_request"},
		"no aud":                  {[]string{"aud", ""}, "invalid_request"},
		"another server's aud":    {[]string{"aud", "https://other.example/fhir"}, "invalid_request"},
		"no challenge":            {[]string{"code_challenge", ""}, "invalid_request"},
		"short challenge":         {[]string{"code_challenge", "abc"}, "invalid_request"},
		"no method means plain":   {[]string{"code_challenge_method", ""}, "invalid_request"},
		"plain":                   {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"no scope":                {[]string{"scope", ""}, "invalid_scope"},
		"no scope for data":       {[]string{"scope", "openid offline_access"}, "invalid_scope"},
		"only scopes for writing": {[]string{"scope", "patient/*.write patient/Observation.cud"}, "invalid_scope"},
		"the patient declines":    {[]string{"decision", "deny"}, "access_denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine := p.in(t)
			a := mine.authorize(append([]string{"persona", "alder-maple", "decision", "approve"}, c.pairs...)...)
			landing := mine.landing(a)
			if !strings.HasPrefix(a.header.Get("Location"), redirectURI+"?") {
				t.Errorf("Location = %q, want the registered address", a.header.Get("Location"))
			}
			if got := landing.Get("error"); got != c.want || landing.Has("code") || landing.Get("error_description") == "" {
				t.Errorf("landing = %v, want error %s with a description and no code", landing, c.want)
			}
			if name != "no state" && landing.Get("state") != "st-1" {
				t.Errorf("state = %q, want it echoed", landing.Get("state"))
			}
		})
	}
}

func TestAuthorizeRejectsDuplicateParameter(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	query := p.authorizeQuery("persona", "alder-maple", "decision", "approve")
	query.Add("state", "st-2")
	landing := p.landing(p.get(p.base + "/oauth/authorize?" + query.Encode()))
	if got := landing.Get("error"); got != "invalid_request" {
		t.Errorf("two states: error = %q, want invalid_request", got)
	}
	query = p.authorizeQuery()
	query.Add("redirect_uri", "https://evil.example/")
	if a := p.get(p.base + "/oauth/authorize?" + query.Encode()); a.status != http.StatusBadRequest {
		t.Errorf("two redirect URIs: status = %d, want a page with 400", a.status)
	}
}

func TestAuthorizePreservesRedirectURIQuery(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	a := p.authorize("redirect_uri", redirectURI+"?tenant=1", "aud", p.fhir+"/", "persona", "alder-maple",
		"decision", "approve")
	landing := p.landing(a)
	if landing.Get("tenant") != "1" || landing.Get("code") == "" {
		t.Errorf("landing = %v, want tenant and code", landing)
	}
}

func TestSignInAndConsentWorkThroughLinks(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	start := p.base + "/oauth/authorize?" + p.authorizeQuery().Encode()
	signIn := p.page(p.get(start))
	if signIn.Kind != "sign_in" || len(signIn.People) != 7 {
		t.Fatalf("first page = %+v, want sign_in with 7 people", signIn)
	}
	address := p.follow(start, signIn.People[0].Href)
	consent := p.page(p.get(address))
	if consent.Kind != "consent" || consent.Person != "Juniper Vale" || len(consent.Data) < 5 || !consent.Offline {
		t.Fatalf("second page = %+v, want consent of Juniper Vale with the list of data", consent)
	}
	if landing := p.landing(p.get(p.follow(address, consent.Approve))); landing.Get("code") == "" {
		t.Errorf("approve leads to %v, want a code", landing)
	}
	if landing := p.landing(p.get(p.follow(address, consent.Deny))); landing.Get("error") != "access_denied" {
		t.Errorf("deny leads to %v, want access_denied", landing)
	}
	if back := p.page(p.get(p.follow(address, consent.Back))); back.Kind != "sign_in" {
		t.Errorf("back leads to %q, want sign_in", back.Kind)
	}
}

func TestConsentPageListsRequestedData(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	got := p.page(p.authorize("persona", "alder-maple", "scope", "patient/Immunization.read"))
	if len(got.Data) != 1 || got.Data[0] != "Vaccinations" || got.Offline {
		t.Errorf("consent = %+v, want vaccinations only and not offline", got)
	}
}

func TestAuthorizeShowsErrorPageForUnknownPersonOrDecision(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for _, pairs := range [][]string{
		{"persona", "nobody", "decision", "approve"},
		{"persona", "alder-maple", "decision", "maybe"},
	} {
		a := p.authorize(pairs...)
		if got := p.page(a); a.status != http.StatusBadRequest || got.Kind != "error" {
			t.Errorf("%v: got %d %q, want 400 error", pairs, a.status, got.Kind)
		}
	}
}

func TestPagesEscapeHostileParameters(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	hostile := `</script><script>alert(1)</script>"'><img src=x onerror=alert(1)>` + "\u2028"
	for name, a := range map[string]answer{
		"client_id":    p.authorize("client_id", hostile),
		"redirect_uri": p.authorize("redirect_uri", hostile),
		"state":        p.authorize("state", hostile),
		"persona":      p.authorize("persona", hostile),
		"decision":     p.authorize("persona", "alder-maple", "decision", hostile),
		"unknown":      p.authorize(hostile, hostile),
	} {
		if bytes.Contains(a.body, []byte("<img")) || bytes.Count(a.body, []byte("<script")) != 2 {
			t.Errorf("%s: the page holds markup from the request:\n%s", name, a.body)
		}
		policy := a.header.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'",
			"form-action 'none'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: Content-Security-Policy = %q, want %s", name, policy, want)
			}
		}
		p.page(a)
	}
	landing := p.landing(p.authorize("state", hostile, "persona", "alder-maple", "decision", "approve"))
	if got := landing.Get("state"); got != hostile {
		t.Errorf("state = %q, want it echoed as sent", got)
	}
}

func TestPageAssetsHaveContentTypes(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for name, want := range map[string]string{
		"authorize.css": "text/css; charset=utf-8",
		"authorize.js":  "text/javascript; charset=utf-8",
	} {
		a := p.get(p.base + "/oauth/assets/" + name)
		if a.status != http.StatusOK || a.header.Get("Content-Type") != want || len(a.body) < 500 {
			t.Errorf("%s: got %d %s of %d bytes, want 200 %s", name, a.status, a.header.Get("Content-Type"), len(a.body), want)
		}
	}
}

// page is the JSON data embedded in an HTML page.
type page struct {
	Kind    string   `json:"kind"`
	App     string   `json:"app"`
	Person  string   `json:"person"`
	Data    []string `json:"data"`
	Offline bool     `json:"offline"`
	Approve string   `json:"approve"`
	Deny    string   `json:"deny"`
	Back    string   `json:"back"`
	People  []struct {
		Href string `json:"href"`
	} `json:"people"`
}

func (p *wire) page(a answer) page {
	p.t.Helper()
	_, rest, _ := bytes.Cut(a.body, []byte(`id="page-data">`))
	block, _, _ := bytes.Cut(rest, []byte("</script>"))
	var got page
	if err := json.Unmarshal(block, &got); err != nil {
		p.t.Fatalf("page data: %v\n%s", err, a.body)
	}

	return got
}

func (p *wire) follow(from, href string) string {
	p.t.Helper()
	base, err := url.Parse(from)
	if err != nil {
		p.t.Fatal(err)
	}
	to, err := base.Parse(href)
	if err != nil {
		p.t.Fatal(err)
	}

	return to.String()
}

func TestPagesEscapeHostileNames(t *testing.T) {
	t.Parallel()
	const hostile = `</script><img src=x onerror=alert(1)><script>`
	folder := t.TempDir()
	writeFile(t, folder, "p.json",
		`{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient","id":"p","name":[{"text":"`+
			hostile+`"}]}}]}`)
	people, err := persona.LoadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	p := newPortal(t, func(d *sandbox.Deps) {
		d.Personas = people
		d.Clients = []oauth.Client{{ID: hostile, RedirectURIs: []string{redirectURI}}}
	})
	for _, a := range []answer{p.authorize("client_id", hostile), p.authorize("client_id", hostile, "persona", "p")} {
		if bytes.Contains(a.body, []byte("<img")) || bytes.Count(a.body, []byte("<script")) != 2 {
			t.Errorf("the page holds markup from a name:\n%s", a.body)
		}
		if got := p.page(a); got.App != hostile {
			t.Errorf("app = %q, want it whole", got.App)
		}
	}
}
