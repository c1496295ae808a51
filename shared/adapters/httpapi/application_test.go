package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
)

// open requests one of the application's pages and returns the response and the Visit that the page's function
// received.
func open(t *testing.T, known directory, limiter httpapi.Limiter, target string, fails error,
	languages ...string,
) (*httptest.ResponseRecorder, httpapi.Visit) {
	t.Helper()
	var visit httpapi.Visit
	f := func(_ context.Context, v httpapi.Visit, _ visitRequest) (httpapi.Answer, error) {
		visit = v
		return httpapi.Drawn([]byte("<p>"+v.Language()), "default-src 'none'", "strict-origin"), fails
	}
	auth := httpapi.PublicAuth{Public: known, Limiter: limiter}
	r := newRequest(http.MethodGet, target, "")
	r.Header["Accept-Language"] = languages
	return do(newEdge().Serve("/frame", httpapi.Methods{http.MethodGet: httpapi.Application(auth, f)}), r), visit
}

func TestPublicPageRedirectsErrorToApplication(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target  string
		known   directory
		limiter httpapi.Limiter
		status  int
		code    string
		org     string
	}{
		"nothing":              {target: "/frame?public_id=" + publicID, status: 200, org: "org-1"},
		"no public id":         {target: "/frame", status: 400, code: "svc_invalid_request"},
		"an unknown public id": {target: "/frame?public_id=x", status: 400, code: "svc_unauthorized_client"},
		"a parameter twice": {
			target: "/frame?public_id=" + publicID + "&endpoint_id=a&endpoint_id=b", status: 400,
			code: "svc_invalid_request", org: "org-1",
		},
		"too often": {
			target: "/frame?public_id=" + publicID, limiter: tooMany(), status: 429,
			code: "svc_rate_limited", org: "org-1",
		},
		"our own failure": {
			target: "/frame?public_id=" + publicID, known: directory{err: errStoreDown}, status: 500,
			code: "svc_server_error",
		},
	} {
		w, visit := open(t, c.known, c.limiter, c.target, nil)
		if w.Code != c.status || w.Body.String() != "<p>en" || visit.Caller.Tenant.OrgID != c.org ||
			(visit.Error == nil) != (c.code == "") {
			t.Errorf("%s: %d %s %+v", name, w.Code, w.Body, visit)
		}
		if visit.Error != nil && (visit.Error.Code != c.code || visit.Error.RequestID != requestID ||
			visit.Error.Description == "") {
			t.Errorf("%s: told %+v", name, visit.Error)
		}
		if retry := w.Header().Get("Retry-After"); (retry == "") != (c.status != 429) {
			t.Errorf("%s: Retry-After %q", name, retry)
		}
		wantHeader(t, w, "Content-Security-Policy", "default-src 'none'")
		wantHeader(t, w, "Cache-Control", "no-store")
		wantHeader(t, w, "Referrer-Policy", "strict-origin")
		wantHeader(t, w, "X-Content-Type-Options", "nosniff")
		wantHeader(t, w, "Permissions-Policy",
			"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
		wantHeader(t, w, "WWW-Authenticate", "")
	}
}

func TestApplicationShowsErrorPageWhenRenderingFails(t *testing.T) {
	t.Parallel()
	w, _ := open(t, directory{}, httpapi.Limiter{}, "/frame?public_id="+publicID,
		fault.New(fault.Unavailable, fault.CodeUnavailable, "No pages."))
	wantPage(t, w, 503, "No pages.")
}

func TestPageUsesBrowserLanguage(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"": "en", "es": "es", "es-419,en;q=0.5": "es", "en,es": "en", "es,en": "es", "en-US,en;q=0.9,es;q=0.8": "en",
		"de, es;q=0.1": "es",
		"fr":           "en", "ES-mx": "es", "es;q=0": "en", "es;q=0, en;q=0": "en", "est": "en",
		"en;q=0.4, es;q=0.6": "es", "*": "en",
	} {
		if w, _ := open(t, directory{}, httpapi.Limiter{}, "/frame?public_id="+publicID, nil,
			asked); w.Body.String() != "<p>"+want {
			t.Errorf("%q: %s, want %s", asked, w.Body, want)
		}
	}
}

func TestBrowserEndpointAllowsSameOriginPageWhenOriginsAreRegistered(t *testing.T) {
	t.Parallel()
	r := newRequest(http.MethodGet, "/brand?public_id="+publicID, "")
	r.Header.Set("Origin", "https://recordbridge.example") // browsers also send Origin with a same-origin POST
	w := do(browser(newEdge(), directory{origins: []string{"https://app.example"}}), r)
	if w.Code != 200 { // a page may read same-origin responses without CORS
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	wantHeader(t, w, "Access-Control-Allow-Origin", "")
}
