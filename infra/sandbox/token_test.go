package sandbox_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestTokenEndpointRejectsInvalidExchanges(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	for name, c := range map[string]struct {
		pairs  []string
		status int
		want   string
	}{
		"no grant_type":            {[]string{"grant_type", ""}, 400, "invalid_request"},
		"password grant":           {[]string{"grant_type", "password"}, 400, "unsupported_grant_type"},
		"no code":                  {[]string{"code", ""}, 400, "invalid_request"},
		"no verifier":              {[]string{"code_verifier", ""}, 400, "invalid_request"},
		"no redirect_uri":          {[]string{"redirect_uri", ""}, 400, "invalid_request"},
		"unknown code":             {[]string{"code", "made-up"}, 400, "invalid_grant"},
		"other verifier":           {[]string{"code_verifier", verifier + "x"}, 400, "invalid_grant"},
		"too short verifier":       {[]string{"code_verifier", "short"}, 400, "invalid_grant"},
		"other redirect_uri":       {[]string{"redirect_uri", redirectURI + "?tenant=1"}, 400, "invalid_grant"},
		"no client":                {[]string{"client_id", ""}, 401, "invalid_client"},
		"unknown client":           {[]string{"client_id", "nobody"}, 401, "invalid_client"},
		"code of another client":   {[]string{"client_id", "second-app"}, 400, "invalid_grant"},
		"secret of public client":  {[]string{"client_secret", "x"}, 401, "invalid_client"},
		"confidential, no secret":  {[]string{"client_id", secretClient}, 401, "invalid_client"},
		"confidential, bad secret": {[]string{"client_id", secretClient, "client_secret", "x"}, 401, "invalid_client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mine := p.in(t)
			code := mine.code("alder-maple")
			wantError(t, mine.post("/oauth/token", exchangeForm(code, c.pairs...)), c.status, c.want)
			if a := mine.post("/oauth/token", exchangeForm(code)); a.status != http.StatusOK {
				t.Errorf("the refused request has spent the code: %d %s", a.status, a.body)
			}
		})
	}
}

func TestTokenEndpointRequiresFormBody(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	form := exchangeForm(p.code("alder-maple"))
	wantError(t, p.post("/oauth/token", form, "Content-Type", "application/json"), 400, "invalid_request")
	wantError(t, p.post("/oauth/token?"+form.Encode(), url.Values{}), 401, "invalid_client")
	twice := url.Values{"grant_type": {"a", "b"}}
	wantError(t, p.post("/oauth/token", twice), 400, "invalid_request")
	huge := url.Values{"grant_type": {strings.Repeat("x", 100<<10)}}
	wantError(t, p.post("/oauth/token", huge), 400, "invalid_request")
}

func TestAuthorizationCodeExpires(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	code := p.code("alder-maple")
	p.advance(codeTTL)
	wantError(t, p.post("/oauth/token", exchangeForm(code)), 400, "invalid_grant")
}

func TestCodeReplayRevokesGrant(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	code := p.code("alder-maple")
	first := p.tokens(p.post("/oauth/token", exchangeForm(code)))
	if a := p.read(first.Access, "Condition"); a.status != http.StatusOK {
		t.Fatalf("before the replay: status = %d, want 200", a.status)
	}
	wantError(t, p.post("/oauth/token", exchangeForm(code, "code_verifier", strings.Repeat("z", 50))), 400,
		"invalid_grant")
	wantOutcome(t, p.read(first.Access, "Condition"), http.StatusUnauthorized, "login")
	wantError(t, p.refresh(first.Refresh), 400, "invalid_grant")
}

func TestLateCodeReplayRevokesGrant(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	code := p.code("alder-maple")
	first := p.tokens(p.post("/oauth/token", exchangeForm(code)))
	p.advance(10 * codeTTL)
	wantError(t, p.post("/oauth/token", exchangeForm(code)), 400, "invalid_grant")
	wantOutcome(t, p.read(first.Access, "Condition"), http.StatusUnauthorized, "login")
}

func TestConcurrentCodeExchangesSucceedAtMostOnce(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	code := p.code("alder-maple")
	won := race(func() answer { return p.post("/oauth/token", exchangeForm(code)) })
	if won > 1 {
		t.Errorf("%d exchanges of one code succeeded, want at most 1", won)
	}
}

func TestRefreshTokenReuseRevokesTokenFamily(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	first := p.connect("alder-maple")
	second := p.tokens(p.refresh(first.Refresh))
	if second.Refresh == first.Refresh || second.Refresh == "" || second.Access == first.Access {
		t.Fatalf("refresh gave no new tokens")
	}
	third := p.tokens(p.refresh(second.Refresh))
	for _, one := range []tokens{first, second, third} {
		if a := p.read(one.Access, "Condition"); a.status != http.StatusOK {
			t.Errorf("an access token of the family: status = %d, want 200", a.status)
		}
	}
	wantError(t, p.refresh(first.Refresh), 400, "invalid_grant")
	wantError(t, p.refresh(third.Refresh), 400, "invalid_grant")
	wantOutcome(t, p.read(third.Access, "Condition"), http.StatusUnauthorized, "login")
}

func TestConcurrentRefreshesSucceedAtMostOnce(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	token := p.connect("alder-maple").Refresh
	won := race(func() answer { return p.refresh(token) })
	if won > 1 {
		t.Errorf("%d refreshes with one token succeeded, want at most 1", won)
	}
}

func TestRefreshTokenIsBoundToClientAndScope(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	token := p.connect("alder-maple").Refresh
	wantError(t, p.refresh(token, "client_id", "second-app"), 400, "invalid_grant")
	wantError(t, p.refresh(token, "scope", "patient/*.rs patient/*.read"), 400, "invalid_scope")
	wantError(t, p.refresh("made-up"), 400, "invalid_grant")
	wantError(t, p.refresh(""), 400, "invalid_request")
	narrow := p.tokens(p.refresh(token, "scope", "launch/patient"))
	wantOutcome(t, p.read(narrow.Access, "Condition"), http.StatusForbidden, "forbidden")
	again := p.tokens(p.refresh(narrow.Refresh))
	if got, want := again.Scope, allScopes; got != want {
		t.Errorf("scope after a narrow refresh = %q, want all that was granted: %q", got, want)
	}
}

func TestRefreshTokenExpiresWithConsent(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	token := p.connect("alder-maple").Refresh
	p.advance(364 * 24 * time.Hour)
	token = p.tokens(p.refresh(token)).Refresh
	p.advance(24 * time.Hour)
	wantError(t, p.refresh(token), 400, "invalid_grant")
}

func TestRefreshTokenRequiresOfflineAccess(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	if got := p.connect("alder-maple", "scope", "launch/patient patient/*.read").Refresh; got != "" {
		t.Error("got a refresh token that nobody granted")
	}
}

func TestConfidentialClientAuthenticatesWithBasicOrForm(t *testing.T) {
	t.Parallel()
	p := newPortal(t)
	basic := "Basic " + base64.StdEncoding.EncodeToString(
		[]byte(url.QueryEscape(secretClient)+":"+url.QueryEscape(clientSecret)))
	for name, attempt := range map[string]func(code string) answer{
		"client_secret_post": func(code string) answer {
			return p.post("/oauth/token", exchangeForm(code, "client_id", secretClient, "client_secret", clientSecret))
		},
		"client_secret_basic": func(code string) answer {
			return p.post("/oauth/token", exchangeForm(code, "client_id", ""), "Authorization", basic)
		},
		"basic with the same client_id": func(code string) answer {
			return p.post("/oauth/token", exchangeForm(code, "client_id", secretClient), "Authorization", basic)
		},
	} {
		if a := attempt(p.code("alder-maple", "client_id", secretClient)); a.status != http.StatusOK {
			t.Errorf("%s: got %d %s, want 200", name, a.status, a.body)
		}
	}
	code := p.code("alder-maple", "client_id", secretClient)
	both := exchangeForm(code, "client_id", secretClient, "client_secret", clientSecret)
	wantError(t, p.post("/oauth/token", both, "Authorization", basic), 400, "invalid_request")
	a := p.post("/oauth/token", exchangeForm(code, "client_id", clientID), "Authorization", basic)
	wantError(t, a, 401, "invalid_client")
	if a.header.Get("WWW-Authenticate") == "" {
		t.Error("401 without WWW-Authenticate")
	}
}

func TestRefreshReturnsInvalidGrantWhenSwitchIsSet(t *testing.T) {
	t.Parallel()
	p := newPortal(t).with(t, "refresh-fails:invalid_grant")
	got := p.connect("alder-maple")
	wantError(t, p.refresh(got.Refresh), 400, "invalid_grant")
	if a := p.read(got.Access, "Condition"); a.status != http.StatusOK {
		t.Errorf("the switch touches more than refresh: %d", a.status)
	}
}

func race(attempt func() answer) int {
	var group sync.WaitGroup
	statuses := make(chan int, 8)
	for range cap(statuses) {
		group.Go(func() { statuses <- attempt().status })
	}
	group.Wait()
	close(statuses)
	won := 0
	for status := range statuses {
		if status == http.StatusOK {
			won++
		}
	}

	return won
}
