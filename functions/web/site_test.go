package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recordbridge/functions/web"
	"recordbridge/infra/testkit/built"
	"recordbridge/shared/ui/pages"
)

// document requests a file of the documentation site, or /docs if path is empty.
func document(d web.Deps, path, accepts string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/v1/docs/"+path, http.NoBody)
	r.Pattern = "/docs"
	if path != "" {
		r.Pattern = "/docs/{proxy...}"
		r.SetPathValue("proxy", path)
	}
	r.Header.Set("Accept-Encoding", accepts)
	w := httptest.NewRecorder()
	web.New(d).ServeHTTP(w, r)
	return w
}

func withSite(t *testing.T) web.Deps {
	t.Helper()
	d := deps(t)
	site, err := pages.LoadSite(built.Site(), web.SitePath("https://api.example/prefix/v1"))
	if err != nil {
		t.Fatal(err)
	}
	d.Site = site
	return d
}

func TestDocumentationRedirectsToFirstPage(t *testing.T) {
	t.Parallel()
	w := document(withSite(t), "", "")
	if got, want := w.Header().Get("Location"), baseURL+"/docs/index.html"; w.Code != http.StatusFound || got != want {
		t.Errorf("%d to %q, want %q", w.Code, got, want)
	}
}

func TestDocumentationPageAllowsOnlyOwnScripts(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"index.html", "reference/api.html"} {
		w := document(withSite(t), at, "")
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != http.StatusOK || !strings.Contains(policy, "default-src 'none'; script-src 'self'; style-src") ||
			strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: %d, policy %q", at, w.Code, policy)
		}
	}
}

func TestDocumentationCachesOnlyHashedFiles(t *testing.T) {
	t.Parallel()
	d := withSite(t)
	for at, want := range map[string]string{
		"index.html": "no-cache", "assets/app.1a2b.js": "public, max-age=31536000, immutable",
	} {
		if got := document(d, at, "").Header().Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control %q, want %q", at, got, want)
		}
	}
}

func TestDocumentationPageHasTagPerEncoding(t *testing.T) {
	t.Parallel()
	d := withSite(t)
	packed, whole := document(d, "index.html", "gzip, br"), document(d, "index.html", "identity")
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.String() != "\x1f\x8b of the page" {
		t.Errorf("got %v %q, want the compressed page", packed.Header(), packed.Body)
	}
	if whole.Header().Get("Content-Encoding") != "" || whole.Header().Get("ETag") == packed.Header().Get("ETag") {
		t.Errorf("got %v, want a different tag and no encoding", whole.Header())
	}
}

func TestUnknownDocumentShowsMissingPageWithLinksFromBase(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"gone.html", "guide/gone.html", "../ui/manifest.json", "manifest.json", "index.html.gz"} {
		w := document(withSite(t), at, "gzip")
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `src="/prefix/v1/docs/start.js"`) {
			t.Errorf("%s: %d %s", at, w.Code, w.Body)
		}
	}
}

func TestDocumentationReturns503WhenNotBuilt(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"", "index.html"} {
		w := document(deps(t), at, "")
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "make site") {
			t.Errorf("%q: %d %s", at, w.Code, w.Body)
		}
	}
}
