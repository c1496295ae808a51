package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

type visitRequest struct {
	EndpointID string `query:"endpoint_id"`
	State      string `query:"external_state"`
}

// visit requests target from a PublicPage that returns err or, if err is nil, redirects to a portal.
func visit(api edge, limiter httpapi.Limiter, target string, err error) *httptest.ResponseRecorder {
	f := func(context.Context, httpapi.Visit, visitRequest) (httpapi.Answer, error) {
		return httpapi.Redirect("https://ehr.example.org/authorize"), err
	}
	auth := httpapi.PublicAuth{Own: ownhosts.Own(), Public: directory{}, Limiter: limiter}
	return do(api.Serve("/connect", httpapi.Methods{http.MethodGet: httpapi.PublicPage(auth, f)}),
		newRequest(http.MethodGet, target, ""))
}

const connect = "/connect?public_id=" + publicID

// proven is a connect URL with a registered redirect URI.
var proven = connect + "&redirect_uri=" + url.QueryEscape(backURI)

func tooMany() httpapi.Limiter {
	return httpapi.Limiter{Buckets: fullBuckets{}, Limit: ratelimit.Limit{Name: "connect", Quota: 30, Window: time.Minute}}
}

type fullBuckets struct{}

func (fullBuckets) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: 2 * time.Second}, nil
}

func wantPage(t *testing.T, w *httptest.ResponseRecorder, status int, shows string) {
	t.Helper()
	body := w.Body.String()
	if w.Code != status || !strings.Contains(body, shows) || !strings.Contains(body, requestID) {
		t.Errorf("got %d %s", w.Code, body)
	}
	if strings.Contains(body, "<script") || strings.Contains(body, "SENTINEL") {
		t.Errorf("the page holds what it must not: %s", body)
	}
	wantHeader(t, w, "Content-Type", "text/html; charset=utf-8")
	expect.OwnPolicy(t, w.Header().Get("Content-Security-Policy"), body)
	wantHeader(t, w, "Referrer-Policy", "no-referrer")
	wantHeader(t, w, "Cache-Control", "no-store")
	wantHeader(t, w, "Location", "")
	wantHeader(t, w, "WWW-Authenticate", "")
}

func TestPublicPageShowsErrorPageBeforeRedirectIsVerified(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		target  string
		limiter httpapi.Limiter
		status  int
		shows   string
	}{
		"no public id": {
			"/connect?redirect_uri=" + url.QueryEscape(backURI),
			httpapi.Limiter{},
			400,
			"public_id is required.",
		},
		"unknown public id": {
			"/connect?public_id=nobody&redirect_uri=" + url.QueryEscape(backURI),
			httpapi.Limiter{},
			400, "public_id is unknown.",
		},
		"an unknown one, too often": {
			"/connect?public_id=nobody&redirect_uri=" + url.QueryEscape(backURI), tooMany(), 429,
			"Too many requests.",
		},
		"another redirect": {
			connect + "&redirect_uri=https://evil.example",
			httpapi.Limiter{},
			400,
			"redirect_uri is not registered",
		},
		"none of several": {connect, httpapi.Limiter{}, 400, "redirect_uri is required"},
		"two redirects": {
			proven + "&redirect_uri=x",
			httpapi.Limiter{},
			400,
			"redirect_uri must not be repeated.",
		},
		"a broken query":             {proven + "&endpoint_id=%zz", httpapi.Limiter{}, 400, "The query string is malformed."},
		"another redirect too often": {connect + "&redirect_uri=https://evil.example", tooMany(), 429, "Too many requests."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := visit(newEdge(), c.limiter, c.target+"&x=%3Cscript%3ESENTINEL", nil)
			wantPage(t, w, c.status, c.shows)
		})
	}
}

func TestPageShowsErrorPage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err    error
		status int
		shows  string
	}{
		"invalid":     {fault.BadRequest("state is not known."), 400, "state is not known."},
		"not found":   {fault.Missing("No such endpoint."), 400, "No such endpoint."},
		"limited":     {fault.New(fault.Limited, fault.CodeRateLimited, "Slow down.").After(time.Second), 429, "Slow down."},
		"internal":    {errors.New("SENTINEL"), 500, generic},
		"unavailable": {fault.Stale(), 503, "Please try again."},
		"markup": {
			fault.BadRequest(`<script>alert("1")</script>{{code}}`), 400,
			"&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := func(context.Context, httpapi.Visit, visitRequest) (httpapi.Answer, error) {
				return httpapi.Answer{}, c.err
			}
			handler := newEdge().Serve("/callback", httpapi.Methods{http.MethodGet: httpapi.Page(httpapi.Limiter{}, f)})
			wantPage(t, do(handler, newRequest(http.MethodGet, "/callback?x=%3Cscript%3ESENTINEL", "")), c.status, c.shows)
		})
	}
}

func TestPublicPageRedirectsErrorsOnceRedirectIsVerified(t *testing.T) {
	t.Parallel()
	given := proven + "&external_id=p+7&external_state=s+1"
	long := strings.Repeat("x", 1025)
	cases := map[string]struct {
		target            string
		limiter           httpapi.Limiter
		err               error
		code, description string
		id, state         string
	}{
		"ours": {
			given,
			httpapi.Limiter{},
			fault.New(fault.Upstream, fault.CodeTokenExchange, "The portal did not give a token."),
			"svc_token_exchange", "The portal did not give a token.", "p 7", "s 1",
		},
		"a portal's code": {
			given,
			httpapi.Limiter{},
			fault.New(fault.Upstream, "invalid_scope", "The portal refused the scope."),
			"invalid_scope", "The portal refused the scope.", "p 7", "s 1",
		},
		"internal": {given, httpapi.Limiter{}, errors.New("SENTINEL"), "svc_server_error", generic, "p 7", "s 1"},
		"smuggling": {
			given,
			httpapi.Limiter{},
			fault.BadRequest("a\r\nLocation: https://evil.example.net/\r\n" + strings.Repeat("x", 300)),
			"svc_invalid_request", "a Location: https://evil.example.net/ " + strings.Repeat("x", 162), "p 7", "s 1",
		},
		"nothing to return": {proven, httpapi.Limiter{}, fault.BadRequest("No."), "svc_invalid_request", "No.", "", ""},
		"too often": {
			given, tooMany(), nil, "svc_server_error", "Too many requests. Please wait before you try " +
				"again.", "p 7", "s 1",
		},
		"a parameter twice": {
			given + "&endpoint_id=a&endpoint_id=b",
			httpapi.Limiter{},
			nil, "svc_invalid_request",
			"endpoint_id must not be repeated.", "p 7", "s 1",
		},
		"the state twice": {
			given + "&external_state=b",
			httpapi.Limiter{},
			nil, "svc_invalid_request",
			"external_state must not be repeated.", "p 7", "",
		},
		"a control character": {
			given + "&endpoint_id=a%0d%0ab",
			httpapi.Limiter{},
			nil,
			"svc_invalid_request", "endpoint_id must be text without control characters.", "p 7", "s 1",
		},
		"one in the state": {
			proven + "&external_id=p+7&external_state=a%0d%0ab",
			httpapi.Limiter{},
			nil,
			"svc_invalid_request", "external_state must be text without control characters.", "p 7", "",
		},
		"too long to return": {
			proven + "&external_id=" + long + "&external_state=" + long,
			httpapi.Limiter{},
			fault.BadRequest("No."),
			"svc_invalid_request", "No.", "", "",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := visit(newEdge(), c.limiter, c.target, c.err)
			location, err := url.Parse(w.Header().Get("Location"))
			if err != nil || w.Code != http.StatusFound {
				t.Fatalf("got %d, %v: %s", w.Code, err, w.Body)
			}
			want := url.Values{"keep": {"1"}, "error": {c.code}, "error_description": {c.description}, "request_id": {requestID}}
			if c.id != "" {
				want.Set("external_id", c.id)
			}
			if c.state != "" {
				want.Set("external_state", c.state)
			}
			if diff := cmp.Diff(want, location.Query()); diff != "" {
				t.Errorf("query (-want +got):\n%s", diff)
			}
			if location.Host != "app.example.org" || strings.ContainsAny(w.Header().Get("Location"), "\r\n") {
				t.Errorf("location %q", location)
			}
		})
	}
}

func TestVisitContainsCallerAndRedirect(t *testing.T) {
	t.Parallel()
	api := newEdge()
	f := func(_ context.Context, v httpapi.Visit, _ visitRequest) (httpapi.Answer, error) {
		if v.Caller.Tenant.OrgID != "org-1" || v.Redirect.URI() != backURI {
			t.Errorf("visit: %+v", v)
		}
		return httpapi.Redirect("https://ehr.example.org/authorize", &http.Cookie{Name: "binding", MaxAge: -1}), nil
	}
	handler := api.Serve("/connect",
		httpapi.Methods{http.MethodGet: httpapi.PublicPage(httpapi.PublicAuth{Own: ownhosts.Own(), Public: directory{}}, f)})
	w := do(handler, newRequest(http.MethodGet, proven, ""))
	wantHeader(t, w, "Location", "https://ehr.example.org/authorize")
	wantHeader(t, w, "Set-Cookie", "binding=; Max-Age=0")
}

func TestPublicPageShowsErrorPageWhenRedirectIsUnverified(t *testing.T) {
	t.Parallel()
	f := func(ctx context.Context, _ httpapi.Visit, _ visitRequest) (httpapi.Answer, error) {
		return httpapi.RedirectError(ctx, org.VerifiedRedirect{}, httpapi.Echo{}, fault.BadRequest("No.")), nil
	}
	w := do(newEdge().Serve("/callback", httpapi.Methods{http.MethodGet: httpapi.Page(httpapi.Limiter{}, f)}),
		newRequest(http.MethodGet, "/callback", ""))
	wantPage(t, w, 400, "No.")
}

func TestRedirectErrorIsLogged(t *testing.T) {
	t.Parallel()
	api := newEdge()
	visit(api, httpapi.Limiter{}, proven, fault.BadRequest("No."))
	if got := api.log.String(); !strings.Contains(got, `"error":"svc_invalid_request"`) ||
		!strings.Contains(got, `"status":302`) {
		t.Errorf("log: %s", got)
	}
}

func TestDocumentPolicyAllowsOnlyItsOwnScript(t *testing.T) {
	t.Parallel()
	document := func(context.Context, httpapi.Visit, nothing) (httpapi.Answer, error) {
		return httpapi.Document(httpapi.Sheet{
			Language: httpapi.English, Icon: httpapi.Plain, Body: "<h1>Hi</h1><p>{{name}}</p>", Script: "close()",
			Values: map[string]string{"name": "{{script}}<b>"},
		}), nil
	}
	limiter := httpapi.Limiter{
		Buckets: &buckets{},
		Limit:   ratelimit.Limit{Name: "callback", Quota: 1, Window: time.Minute},
	}
	handler := newEdge().Serve("/callback", httpapi.Methods{"GET": httpapi.Page(limiter, document)})
	w := do(handler, newRequest("GET", "/callback", ""))
	page := w.Body.String()
	if script := expect.OwnPolicy(t, w.Header().Get("Content-Security-Policy"), page); script != "close()" {
		t.Errorf("the script is %q", script)
	}
	if !strings.Contains(page, "<title>Hi</title>") || !strings.Contains(page, "<p>{{script}}&lt;b&gt;</p>") {
		t.Errorf("got %s", page)
	}
	if w = do(handler, newRequest("GET", "/callback", "")); w.Code != 429 || w.Header().Get("Retry-After") != "60" {
		t.Errorf("second visit: %d %v", w.Code, w.Header())
	}
}
