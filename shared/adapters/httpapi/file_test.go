package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
)

type named struct {
	Name string `query:"name"`
}

// file requests name from an endpoint whose only file exists in br, gzip and unencoded form.
func file(anywhere bool, name string, header http.Header) *httptest.ResponseRecorder {
	find := func(_ context.Context, in named, takes func(string) bool) (httpapi.File, error) {
		if in.Name != "a.js" {
			return httpapi.File{}, fault.Missing("File not found.")
		}
		f := httpapi.File{
			Body: []byte("plain"), Type: "text/javascript", Tag: `"plain"`, Cache: "public, max-age=300",
			Anywhere: anywhere,
		}
		for _, encoding := range []string{"br", "gzip"} {
			if takes(encoding) {
				f.Body, f.Encoding, f.Tag = []byte(encoding), encoding, `"`+encoding+`"`
				return f, nil
			}
		}
		return f, nil
	}
	r := newRequest(http.MethodGet, "/file?name="+name, "")
	r.Header = header
	return do(newEdge().Serve("/file", httpapi.Methods{http.MethodGet: httpapi.Files(find)}), r)
}

func TestFileUsesSmallestAcceptedEncoding(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"": "", "identity": "", "gzip": "gzip", "gzip, deflate, br": "br", "br;q=0, gzip": "gzip", "BR": "br", "*": "br",
		"*;q=0": "", "br;q=0, *;q=0.1": "gzip", "gzip;q=0.001": "gzip", "br;q=nonsense": "", "brotli": "", "deflate,zstd": "",
		"gzip;q=0, br;q=0": "", "br ; q=1.0": "br", "br;q=7": "",
	} {
		w := file(false, "a.js", http.Header{"Accept-Encoding": {accept}})
		tag := `"` + want + `"`
		body := want
		if want == "" {
			tag, body = `"plain"`, "plain"
		}
		if w.Code != 200 || w.Body.String() != body || w.Header().Get("Content-Encoding") != want ||
			w.Header().Get("ETag") != tag {
			t.Errorf("%q: %d %q %v", accept, w.Code, w.Body, w.Header())
		}
		wantHeader(t, w, "Vary", "Accept-Encoding")
		wantHeader(t, w, "Content-Type", "text/javascript")
		wantHeader(t, w, "Cache-Control", "public, max-age=300")
		wantHeader(t, w, "X-Content-Type-Options", "nosniff")
	}
}

func TestFileReturnsNotModifiedWhenClientHasIt(t *testing.T) {
	t.Parallel()
	for held, status := range map[string]int{
		`"plain"`: 304, `W/"plain"`: 304, `"other", "plain"`: 304, "*": 304, `"br"`: 200, "plain": 200,
		`"plai"`: 200, "": 200,
	} {
		w := file(false, "a.js", http.Header{"If-None-Match": {held}})
		if w.Code != status || (w.Body.Len() == 0) != (status == 304) || w.Header().Get("ETag") != `"plain"` ||
			w.Header().Get("Cache-Control") == "no-store" {
			t.Errorf("%s: %d %q %v", held, w.Code, w.Body, w.Header())
		}
	}
}

func TestFileSetsCrossOriginPolicy(t *testing.T) {
	t.Parallel()
	ours, everybodys := file(false, "a.js", http.Header{"Origin": {"https://any.example"}}), file(true, "a.js", nil)
	wantHeader(t, ours, "Access-Control-Allow-Origin", "")
	wantHeader(t, ours, "Cross-Origin-Resource-Policy", "same-origin")
	wantHeader(t, everybodys, "Access-Control-Allow-Origin", "*")
	wantHeader(t, everybodys, "Cross-Origin-Resource-Policy", "cross-origin")
}

func TestMissingFileIsNotCacheable(t *testing.T) {
	t.Parallel()
	w := file(true, "b.js", http.Header{"If-None-Match": {"*"}})
	wantHeader(t, w, "Cache-Control", "no-store")
	wantHeader(t, w, "ETag", "")
	if w.Code != 404 {
		t.Errorf("got %d", w.Code)
	}
}
