package web_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"recordbridge/functions/web"
	"recordbridge/shared/ui/pages"
	"recordbridge/shared/words/fault"
)

// kept holds files of other releases and records the requested paths.
type kept struct {
	files map[string]string
	fails error
	asked []string
}

func (k *kept) Open(_ context.Context, key string) (io.ReadCloser, error) {
	k.asked = append(k.asked, key)
	text, ok := k.files[key]
	switch {
	case k.fails != nil:
		return nil, k.fails
	case !ok:
		return nil, fault.Missing("File not found.")
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func keeping(t *testing.T, k *kept) web.Deps {
	t.Helper()
	d := deps(t)
	d.Releases = pages.Releases{Files: k}
	return d
}

// TestWebServesFilesFromOtherReleases covers deployments, during which one release may receive requests for the other's
// files. The test also covers pinned SDK versions, which the build may no longer contain.
func TestWebServesFilesFromOtherReleases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, name, key, own, kind string }{
		{
			"/widget/assets/{file}", "embed-AB12CD34.js", "widget/assets/embed-AB12CD34.js", "embed-1a2b3c.js",
			"text/javascript; charset=utf-8",
		},
		{
			"/widget/assets/{file}", "embed-AB12CD34.css", "widget/assets/embed-AB12CD34.css", "embed-4d5e6f.css",
			"text/css; charset=utf-8",
		},
		{
			"/sdk/{version}/{file}", "4.0.7/svc-widget.js", "sdk/4.0.7/svc-widget.js", "4.1.2/svc-widget.js",
			"text/javascript; charset=utf-8",
		},
	} {
		d := keeping(t, &kept{files: map[string]string{c.key: "plain", c.key + ".gz": "gzip", c.key + ".br": "br"}})
		for accept, want := range map[string]string{"br, gzip": "br", "gzip": "gzip", "identity": "plain"} {
			header := http.Header{"Accept-Encoding": {accept}}
			got, own := get(d, c.pattern, c.name, "", header), get(d, c.pattern, c.own, "", header)
			if got.Code != 200 || got.Body.String() != want || got.Header().Get("Content-Type") != c.kind {
				t.Errorf("%s, %s: %d %q %v", c.name, accept, got.Code, got.Body, got.Header())
			}
			tag := got.Header().Get("ETag")
			for _, h := range []http.Header{got.Header(), own.Header()} {
				h.Del("ETag")
				h.Del("Content-Type") // the fixture's media types have no charset
			}
			if !reflect.DeepEqual(got.Header(), own.Header()) {
				t.Errorf("%s, %s: %v, one's own has %v", c.name, accept, got.Header(), own.Header())
			}
			header.Set("If-None-Match", tag)
			if again := get(d, c.pattern, c.name, "", header); tag == "" || again.Code != 304 || again.Body.Len() != 0 {
				t.Errorf("%s, %s, again: %d with tag %s", c.name, accept, again.Code, tag)
			}
		}
	}
}

func TestWebRejectsMutableFilesFromOtherReleases(t *testing.T) {
	t.Parallel()
	k := &kept{files: map[string]string{}}
	d := keeping(t, k)
	for _, name := range []string{
		"embed-1a2b3c.js", "embed-ab12cd34.js", "embed-AB12CD34.js.br", "embed-AB12CD34.map", "../embed-AB12CD34.js",
		"a/embed-AB12CD34.js", "embed-AB12CD34.js\n", "-AB12CD34.js",
		"4/svc-widget.js", "4.1/svc-widget.js", "4.1.2/svc-widget.js", "4.1.x/svc-widget.js", "4.1.2.3/svc-widget.js",
		"../svc-widget.js", "4.1.2-beta/svc-widget.js",
		"4.1.9/manifest.json", "4.1.9/svc-widget.js.gz", "4.1.9/../4.0.0/svc-widget.js", "4.1.9/..",
		"123456.0.0/svc-widget.js",
	} {
		for _, pattern := range []string{"/widget/assets/{file}", "/sdk/{version}/{file}", "/sdk/manifest.json"} {
			get(d, pattern, name, "", nil)
		}
	}
	if len(k.asked) != 0 {
		t.Errorf("asked for %q", k.asked)
	}
	w := get(d, "/sdk/{version}/{file}", "4.1.9/svc-widget.js", "", nil)
	if w.Code != 404 || !strings.Contains(w.Body.String(), `"error":"svc_not_found"`) ||
		w.Header().Get("Cache-Control") != "no-store" || !slices.Equal(k.asked, []string{"sdk/4.1.9/svc-widget.js"}) {
		t.Errorf("what no release has: %d %s, asked for %q", w.Code, w.Body, k.asked)
	}
}

func TestWebReturns500WhenBucketFails(t *testing.T) {
	t.Parallel()
	const name = "embed-AB12CD34.js"
	for cause, k := range map[string]*kept{
		"no answer": {fails: errors.New("timeout")},
		"too large": {files: map[string]string{"widget/assets/" + name: strings.Repeat("x", 1<<20+1)}},
	} {
		w := get(keeping(t, k), "/widget/assets/{file}", name, "", nil)
		if w.Code != 500 || w.Header().Get("Cache-Control") != "no-store" || w.Body.Len() > 1000 {
			t.Errorf("%s: %d %v", cause, w.Code, w.Header())
		}
	}
}
