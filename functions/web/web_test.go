package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/web"
	"recordbridge/infra/testkit/built"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/ui/pages"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/release"
)

const (
	known     = "public_test_0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a"
	open      = "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b"
	suspended = "public_test_0c0c0c0c-0c0c-4c0c-8c0c-0c0c0c0c0c0c"
	requestID = "11111111-1111-4111-8111-111111111111"
	baseURL   = "https://api.example/v1"
)

type directory struct{}

func (directory) ByPublicID(_ context.Context, id string) (org.Caller, error) {
	switch id {
	case known:
		return org.Caller{
			Tenant:         org.Tenant{Mode: org.Test, OrgID: "o1"},
			AllowedOrigins: []string{"https://app.example"},
		}, nil
	case open:
		return org.Caller{Tenant: org.Tenant{Mode: org.Test, OrgID: "o1"}}, nil
	}
	return org.Caller{}, fault.New(fault.Unauthenticated, fault.CodeUnauthorizedClient, "No.")
}

func (directory) Organisation(_ context.Context, id string) (org.Organisation, error) {
	if id != known && id != open {
		return org.Organisation{Name: "Another's"}, errors.New("asked for another")
	}
	return org.Organisation{
		Name: "Alder & Birch", Accent: "#1a5fb4", LogoURI: "https://a.example/l.svg", PrivacyPolicyURI: "https://a.example/p",
		TermsURI: "https://a.example/t", WebsiteURI: "https://a.example/", Emails: []string{"ops@a.example"},
	}, nil
}

type full struct{}

func (full) Take(context.Context, string, ratelimit.Limit, time.Time) (ratelimit.Decision, error) {
	return ratelimit.Decision{RetryAfter: time.Second}, nil
}

func deps(t *testing.T) web.Deps {
	t.Helper()
	bundle, err := pages.Load(built.Folder())
	if err != nil {
		t.Fatal(err)
	}
	return web.Deps{
		Releases: pages.Releases{Files: &kept{}},
		API: httpapi.New(httpapi.Options{
			Logger: slog.New(slog.DiscardHandler), Now: time.Now,
			IDs: func() string { return requestID },
		}),
		Auth: httpapi.PublicAuth{Own: ownhosts.Own(), Public: directory{}}, Organisations: directory{}, Pages: bundle,
		BaseURL: baseURL, Own: ownhosts.Own(),
	}
}

// get sends a request in the same form as the Lambda adapter. The request's Pattern is the declared path, and its
// PathValues are the path parameters.
func get(d web.Deps, pattern, value, query string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/v1/x?"+query, http.NoBody)
	r.Pattern, r.Header = pattern, header
	version, name, ok := strings.Cut(value, "/")
	if !ok {
		version, name = "4", value
	}
	if strings.Contains(pattern, "assets") {
		name = value
	}
	r.SetPathValue("version", version)
	r.SetPathValue("file", name)
	w := httptest.NewRecorder()
	web.New(d).ServeHTTP(w, r)
	return w
}

func bootOf(t *testing.T, w *httptest.ResponseRecorder) pages.Boot {
	t.Helper()
	found := regexp.MustCompile(`(?s)type="application/json">(.*?)</script>`).FindStringSubmatch(w.Body.String())
	if len(found) != 2 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	var boot pages.Boot
	if err := json.Unmarshal([]byte(found[1]), &boot); err != nil {
		t.Fatal(err)
	}
	return boot
}

func TestFrameHasBrandingAndAllowsRegisteredOrigins(t *testing.T) {
	t.Parallel()
	w := get(deps(t), "/widget/embed", "", "public_id="+known+"&external_id=p7&email=a@b.example",
		http.Header{"Accept-Language": {"es"}})
	want := pages.Boot{
		Shell: pages.Frame, BaseURL: baseURL, Mode: org.Test, PublicID: known,
		AllowedOrigins: []string{"https://app.example"}, Query: map[string]string{},
		Organisation: &pages.Branding{
			Name: "Alder & Birch", Accent: "#1a5fb4", LogoURI: "https://a.example/l.svg",
			PrivacyPolicyURI: "https://a.example/p",
			TermsURI:         "https://a.example/t", WebsiteURI: "https://a.example/",
		},
	}
	if got := bootOf(t, w); w.Code != 200 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %d %+v\nwant %+v", w.Code, got, want)
	}
	page := w.Body.String()
	if !strings.Contains(page, `<html lang="es"><title>Conecte sus registros médicos · Alder &amp; Birch</title>`) ||
		strings.Contains(page, "ops@a.example") {
		t.Errorf("got %s", page)
	}
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Referrer-Policy": "strict-origin", "X-Content-Type-Options": "nosniff",
		"Content-Type": "text/html; charset=utf-8",
		"X-Request-Id": requestID, "Set-Cookie": "",
		// A cross-origin isolated page can embed a frame only if the frame's response has these headers.
		"Cross-Origin-Embedder-Policy": "credentialless", "Cross-Origin-Resource-Policy": "cross-origin",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(policy,
		"; frame-ancestors 'self' https://app.example") {
		t.Errorf("policy %q", policy)
	}
	w = get(deps(t), "/widget/embed", "", "public_id="+open+"&lang=en", http.Header{"Accept-Language": {"es"}})
	if got := bootOf(t, w); got.Mode != org.Test || got.PublicID != open || got.Query["lang"] != "en" ||
		!strings.Contains(w.Body.String(), `lang="en"`) {
		t.Errorf("got %+v", got)
	}
	if policy := w.Header().Get("Content-Security-Policy"); strings.Contains(policy, "frame-ancestors") {
		t.Errorf("policy %q", policy)
	}
	if got := bootOf(t, get(deps(t), "/widget/embed", "", "public-id="+known+"&external-id=p7&search-only=true",
		http.Header{"Accept-Language": {"es"}})); !reflect.DeepEqual(got, want) {
		t.Errorf("by public-id: %+v\nwant %+v", got, want)
	}
	for at, query := range map[string]string{
		"/widget/connect": "public-id=" + known,
		"/widget/embed":   "public_id=" + suspended + "&public-id=" + known,
	} {
		if refused := get(deps(t), at, "", query, http.Header{}); refused.Code != 400 ||
			bootOf(t, refused).Organisation != nil {
			t.Errorf("%s?%s: %d", at, query, refused.Code)
		}
	}
	// The page's script must choose the same language as the server.
	for asked, want := range map[string]string{"es-MX": "es", "EN-us": "en", "fr": "es", "": "es"} {
		w = get(deps(t), "/widget/embed", "", "public_id="+open+"&lang="+asked, http.Header{"Accept-Language": {"es"}})
		if !strings.Contains(w.Body.String(), `<html lang="`+want+`">`) {
			t.Errorf("%q: %s", asked, w.Body)
		}
	}
}

func TestPageHidesDetailsWhenOrganisationIsUnknown(t *testing.T) {
	t.Parallel()
	for id, shown := range map[string]string{
		suspended: suspended, "": "", "public_test_x": "", "</script><b>": "",
		"public_live_0d0d0d0d-0d0d-4d0d-8d0d-0d0d0d0d0d0d": "public_live_0d0d0d0d-0d0d-4d0d-8d0d-0d0d0d0d0d0d",
	} {
		for _, pattern := range []string{"/widget/embed", "/widget/connect"} {
			w := get(deps(t), pattern, "", "public_id="+id, nil)
			boot := bootOf(t, w)
			if w.Code != 400 || boot.Organisation != nil || len(boot.AllowedOrigins) != 0 || boot.PublicID != shown ||
				boot.Error == nil || boot.Error.RequestID != requestID {
				t.Errorf("%s %q: %d %+v", pattern, id, w.Code, boot)
			}
			if (boot.Mode == org.Live) != strings.Contains(shown, "live") {
				t.Errorf("%q: mode %s", id, boot.Mode)
			}
			if strings.Contains(w.Body.String(), "Alder") || strings.Contains(w.Body.String(), "Another") {
				t.Errorf("%q: %s", id, w.Body)
			}
			if policy := w.Header().Get("Content-Security-Policy"); pattern == "/widget/embed" &&
				strings.Contains(policy, "frame-ancestors") {
				t.Errorf("the page that embeds it cannot be told: %q", policy)
			}
		}
	}
}

func TestPageShowsRateLimitError(t *testing.T) {
	t.Parallel()
	d := deps(t)
	d.Auth.Limiter = httpapi.Limiter{
		Buckets: full{},
		Limit:   ratelimit.Limit{Name: "browser", Quota: 1, Window: time.Minute},
	}
	w := get(d, "/widget/embed", "", "public_id="+known, nil)
	if boot := bootOf(t, w); w.Code != 429 || boot.Error.Error != "svc_rate_limited" || boot.Organisation != nil {
		t.Errorf("got %d %+v", w.Code, boot)
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(policy,
		"frame-ancestors 'self' https://app.example") {
		t.Errorf("policy %q", policy)
	}
}

func TestHostedPageForwardsParameters(t *testing.T) {
	t.Parallel()
	const back = "&external_id=p7&external_state=s%269&request_id=r1&reconnect_org_connection_id=c1&brand_id=b1&" +
		"portal_id=q1&lang=es"
	w := get(deps(t), "/widget/connect", "",
		"public_id="+known+"&redirect_uri=https%3A%2F%2Fevil.example%2F"+back+"&email=a@b.example", nil)
	boot := bootOf(t, w)
	want := map[string]string{
		// not yet validated; connect validates it later
		"redirect_uri": "https://evil.example/", "external_id": "p7", "external_state": "s&9", "request_id": "r1",
		"reconnect_org_connection_id": "c1", "brand_id": "b1", "portal_id": "q1", "lang": "es",
	}
	if w.Code != 200 || boot.Shell != pages.Page || !reflect.DeepEqual(boot.Query, want) || boot.Organisation == nil ||
		w.Header().Get("Location") != "" {
		t.Errorf("got %d %+v", w.Code, boot)
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(policy, "; frame-ancestors 'none'") ||
		!strings.Contains(w.Body.String(), `lang="es"`) {
		t.Errorf("policy %q", policy)
	}
	w = get(deps(t), "/widget/connect", "", "public_id="+known+"&external_id="+strings.Repeat("x", 3000), nil)
	if boot := bootOf(t, w); boot.Shell != pages.Window || len(boot.Query) != 0 {
		t.Errorf("got %+v", boot)
	}
	if w = get(deps(t), "/widget/connect", "", "public_id="+known+"&brand_id=a&brand_id=b", nil); w.Code != 400 ||
		bootOf(t, w).Error.Error != "svc_invalid_request" {
		t.Errorf("a parameter twice: %d", w.Code)
	}
}

func TestPlaygroundAcceptsAnyPublicID(t *testing.T) {
	t.Parallel()
	w := get(deps(t), "/demo", "", "public_id="+known, nil)
	boot := bootOf(t, w)
	if w.Code != 200 || boot.PublicID != known || boot.Mode != org.Test || boot.Organisation != nil || boot.Error != nil {
		t.Errorf("got %d %+v", w.Code, boot)
	}
}

func TestDashboardPageIsInEnglishForAllLanguages(t *testing.T) {
	t.Parallel()
	first := get(deps(t), "/dashboard", "", "", http.Header{"Accept-Language": {"es"}})
	other := get(deps(t), "/dashboard", "", "public_id="+known+"&lang=es",
		http.Header{"Cookie": {"__Host-recordbridge-session=x"}})
	boot := bootOf(t, first)
	if first.Code != 200 || first.Body.String() != other.Body.String() || boot.Organisation != nil ||
		boot.PublicID != "" || boot.BaseURL != baseURL {
		t.Errorf("got %d %+v", first.Code, boot)
	}
	if !strings.Contains(first.Body.String(), `<html lang="en"><title>Recordbridge</title>`) {
		t.Errorf("got %s", first.Body)
	}
	if strings.Contains(first.Body.String(), "dashboard_url") {
		t.Errorf("it is sent elsewhere: %s", first.Body)
	}
	elsewhere := deps(t)
	elsewhere.DashboardURL = "https://dashboard.example/dashboard"
	if boot := bootOf(t, get(elsewhere, "/dashboard", "", "", nil)); boot.DashboardURL != elsewhere.DashboardURL {
		t.Errorf("got %+v", boot)
	}
	if policy := first.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self'; ") ||
		!strings.Contains(policy, "frame-ancestors 'none'; require-trusted-types-for 'script'") {
		t.Errorf("policy %q", policy)
	}
}

func TestHealthNamesReleaseWithoutItsDependencies(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]release.Release{
		`{"status":"ok","version":"0.1.0","commit":"1a2b3c4d5e6f"}`: {Version: "0.1.0", Commit: "1a2b3c4d5e6f"},
		`{"status":"ok"}`: {},
	} {
		w := get(web.Deps{API: deps(t).API, Release: r}, "/health", "", "", http.Header{})
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want ||
			w.Header().Get("Cache-Control") != "public, max-age=5" {
			t.Errorf("got %d %s %v, want %s", w.Code, got, w.Header(), want)
		}
	}
}

func TestFileCacheLifetimeDependsOnName(t *testing.T) {
	t.Parallel()
	const forever, minutes = "public, max-age=31536000, immutable", "public, max-age=300"
	for _, c := range []struct{ pattern, name, cache, policy, cors string }{
		{"/widget/assets/{file}", "embed-1a2b3c.js", forever, "same-origin", ""},
		{"/widget/assets/{file}", "embed-4d5e6f.css", forever, "same-origin", ""},
		{"/sdk/{version}/{file}", built.Version + "/svc-widget.js", forever, "cross-origin", "*"},
		{"/sdk/{version}/{file}", "4/svc-widget.js", minutes, "cross-origin", "*"},
		{"/sdk/manifest.json", "", minutes, "cross-origin", "*"},
		{"/sdk/{version}/{file}", built.Version + "/record-view.js", forever, "cross-origin", "*"},
		{"/record-view.js", "", minutes, "cross-origin", "*"},
	} {
		w := get(deps(t), c.pattern, c.name, "", nil)
		h := w.Header()
		if w.Code != 200 || h.Get("Cache-Control") != c.cache || h.Get("Cross-Origin-Resource-Policy") != c.policy ||
			h.Get("Access-Control-Allow-Origin") != c.cors {
			t.Errorf("%s: %d %v", c.name, w.Code, h)
		}
		if again := get(deps(t), c.pattern, c.name, "", http.Header{"If-None-Match": {h.Get("ETag")}}); again.Code != 304 ||
			again.Body.Len() != 0 {
			t.Errorf("%s, again: %d", c.name, again.Code)
		}
	}
	w := get(deps(t), "/widget/assets/{file}", "embed-1a2b3c.js", "", http.Header{"Accept-Encoding": {"br, gzip"}})
	if w.Header().Get("Content-Encoding") != "br" || w.Body.String() != "\xffbr of embed.js" {
		t.Errorf("got %v %q", w.Header(), w.Body)
	}
}

func TestWebReturns404ForFilesOutsideBuild(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", ".", "..", "../manifest.json", "../../pages/embed.en.html", "..%2f..%2fmanifest.json", "/etc/passwd",
		"embed-1a2b3c.js.br", "embed-1a2b3c.js/", "EMBED-1A2B3C.JS",
		"4.1.2/../../manifest.json", "4.1.2", "4.1.2/", "../sdk/4/svc-widget.js", "..\\manifest.json", "4/svc-widget.js\x00",
	} {
		for _, pattern := range []string{"/widget/assets/{file}", "/sdk/{version}/{file}"} {
			w := get(deps(t), pattern, name, "", nil)
			if w.Code != 404 || !strings.Contains(w.Body.String(), `"error":"svc_not_found"`) ||
				w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s %q: %d %s", pattern, name, w.Code, w.Body)
			}
		}
	}
}

func TestPageReturns503WhenPagesAreNotBuilt(t *testing.T) {
	t.Parallel()
	d := deps(t)
	d.Pages = nil
	for _, pattern := range []string{
		"/widget/embed", "/widget/connect", "/widget/assets/{file}", "/sdk/{version}/{file}",
		"/record-view.js", "/demo", "/dashboard",
	} {
		w := get(d, pattern, "embed-1a2b3c.js", "public_id="+known, nil)
		if w.Code != 503 || !strings.Contains(w.Body.String(), "Install Node 20 or later, run make ui") {
			t.Errorf("%s: %d %s", pattern, w.Code, w.Body)
		}
	}
}
