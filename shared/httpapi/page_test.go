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

	"recordbridge/shared/fault"
	"recordbridge/shared/httpapi"
	"recordbridge/shared/org"
	"recordbridge/shared/ratelimit"
)

type visitRequest struct {
	State string `query:"external_state"`
}

func visit(api edge, target string, f func(context.Context, httpapi.Visit, visitRequest) (httpapi.Answer, error)) *httptest.ResponseRecorder {
	handler := api.Serve("/connect", httpapi.Methods{"GET": httpapi.PublicPage(httpapi.PublicAuth{Public: directory{}}, f)})
	r := newRequest("GET", target, "")
	r.AddCookie(&http.Cookie{Name: "binding", Value: "b-1"})
	return do(handler, r)
}

func fail(err error) func(context.Context, httpapi.Visit, visitRequest) (httpapi.Answer, error) {
	return func(context.Context, httpapi.Visit, visitRequest) (httpapi.Answer, error) {
		return httpapi.Answer{}, err
	}
}

const connect = "/connect?public_id=" + publicID

func TestErrorsBeforeAProvenRedirectAreAPage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		target string
		err    error
		status int
		shows  string
	}{
		"no public id":      {"/connect", nil, 400, "public_id is required."},
		"unknown public id": {"/connect?public_id=nobody", nil, 400, "public_id is unknown."},
		"invalid":           {connect, fault.BadRequest("redirect_uri is not registered."), 400, "redirect_uri is not registered."},
		"not found":         {connect, fault.Missing("No such endpoint."), 400, "No such endpoint."},
		"limited":           {connect, fault.New(fault.Limited, fault.CodeRateLimited, "Slow down.").After(time.Second), 429, "Slow down."},
		"internal":          {connect, errors.New("SENTINEL"), 500, generic},
		"unavailable":       {connect, fault.Stale(), 503, "Please try again."},
		"markup":            {connect, fault.BadRequest(`<script>alert("1")</script>{{code}}`), 400, "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := visit(newEdge(), c.target+"&x=%3Cscript%3ESENTINEL", fail(c.err))
			body := w.Body.String()
			if w.Code != c.status || !strings.Contains(body, c.shows) || !strings.Contains(body, requestID) {
				t.Errorf("got %d %s", w.Code, body)
			}
			if strings.Contains(body, "<script") || strings.Contains(body, "SENTINEL") {
				t.Errorf("the page holds what it must not: %s", body)
			}
			wantHeader(t, w, "Content-Type", "text/html; charset=utf-8")
			wantHeader(t, w, "Content-Security-Policy",
				"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
			wantHeader(t, w, "Referrer-Policy", "no-referrer")
			wantHeader(t, w, "Cache-Control", "no-store")
			wantHeader(t, w, "Location", "")
			wantHeader(t, w, "WWW-Authenticate", "")
		})
	}
}

func proven(t *testing.T) org.VerifiedRedirect {
	t.Helper()
	to, err := org.MatchRedirect([]string{"https://app.example.org/back?keep=1"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestErrorsGoToAProvenRedirect(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err  error
		want url.Values
	}{
		"ours": {
			fault.New(fault.Upstream, fault.CodeTokenExchange, "The portal did not give a token."),
			url.Values{"error": {"svc_token_exchange"}, "error_description": {"The portal did not give a token."}},
		},
		"a portal's code": {
			fault.New(fault.Upstream, "invalid_scope", "The portal refused the scope."),
			url.Values{"error": {"invalid_scope"}, "error_description": {"The portal refused the scope."}},
		},
		"internal": {
			errors.New("SENTINEL"),
			url.Values{"error": {"svc_server_error"}, "error_description": {generic}},
		},
		"smuggling": {
			fault.BadRequest("a\r\nLocation: https://evil.example.net/\r\n" + strings.Repeat("x", 300)),
			url.Values{"error": {"svc_invalid_request"}, "error_description": {"a Location: https://evil.example.net/ " + strings.Repeat("x", 162)}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := proven(t)
			w := visit(newEdge(), connect+"&external_state=s+1", func(ctx context.Context, v httpapi.Visit, in visitRequest) (httpapi.Answer, error) {
				if v.Cookie("binding") != "b-1" || v.Cookie("other") != "" || v.Caller.Tenant.OrgID != "org-1" {
					t.Errorf("visit: %+v", v.Caller)
				}
				return httpapi.RedirectError(ctx, to, in.State, c.err, &http.Cookie{Name: "binding", MaxAge: -1}), nil
			})
			location, err := url.Parse(w.Header().Get("Location"))
			if err != nil || w.Code != 302 {
				t.Fatalf("got %d, %v", w.Code, err)
			}
			c.want["keep"], c.want["request_id"], c.want["external_state"] = []string{"1"}, []string{requestID}, []string{"s 1"}
			if diff := cmp.Diff(c.want, location.Query()); diff != "" {
				t.Errorf("query (-want +got):\n%s", diff)
			}
			if location.Host != "app.example.org" || strings.ContainsAny(w.Header().Get("Location"), "\r\n") {
				t.Errorf("location %q", location)
			}
			wantHeader(t, w, "Set-Cookie", "binding=; Max-Age=0")
		})
	}
}

func TestARedirectWithoutProofIsAPage(t *testing.T) {
	t.Parallel()
	w := visit(newEdge(), connect, func(ctx context.Context, _ httpapi.Visit, _ visitRequest) (httpapi.Answer, error) {
		return httpapi.RedirectError(ctx, org.VerifiedRedirect{}, "", fault.BadRequest("No.")), nil
	})
	wantHeader(t, w, "Location", "")
	if w.Code != 400 {
		t.Errorf("got %d", w.Code)
	}
}

func TestARedirectErrorIsOnTheLogLine(t *testing.T) {
	t.Parallel()
	api := newEdge()
	to := proven(t)
	visit(api, connect, func(ctx context.Context, _ httpapi.Visit, _ visitRequest) (httpapi.Answer, error) {
		return httpapi.RedirectError(ctx, to, "", fault.BadRequest("No.")), nil
	})
	if got := api.log.String(); !strings.Contains(got, `"error":"svc_invalid_request"`) || !strings.Contains(got, `"status":302`) {
		t.Errorf("log: %s", got)
	}
}

func TestADocumentRunsOnlyItsOwnScript(t *testing.T) {
	t.Parallel()
	page := func(context.Context, httpapi.Visit, nothing) (httpapi.Answer, error) {
		return httpapi.Document([]byte("<p>hi"), "sha256-abc="), nil
	}
	limiter := httpapi.Limiter{Buckets: &buckets{}, Limit: ratelimit.Limit{Name: "callback", Quota: 1, Window: time.Minute}}
	handler := newEdge().Serve("/callback", httpapi.Methods{"GET": httpapi.Page(limiter, page)})
	w := do(handler, newRequest("GET", "/callback", ""))
	wantBody(t, w, 200, "<p>hi")
	if got := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(got, "; script-src 'sha256-abc='") {
		t.Errorf("policy %q", got)
	}
	if w = do(handler, newRequest("GET", "/callback", "")); w.Code != 429 || w.Header().Get("Retry-After") != "60" {
		t.Errorf("second visit: %d %v", w.Code, w.Header())
	}
}
