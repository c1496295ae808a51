package httpapi_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/words/fault"
)

type text struct {
	Text string `json:"text"`
}

func TestResponseIsCompressedIfClientAcceptsGzip(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("Alder Maple Clinic. ", 100), "Alder Maple Clinic."
	for name, c := range map[string]struct {
		body, accepts string
		want, varies  bool
	}{
		"a browser":         {long, "gzip, deflate, br, zstd", true, true},
		"any encoding":      {long, "*", true, true},
		"brotli first":      {long, "br;q=1.0, gzip;q=0.8", true, true},
		"no header":         {long, "", false, true},
		"another encoding":  {long, "br", false, true},
		"gzip refused":      {long, "gzip;q=0, *", false, true},
		"nothing to gain":   {short, "gzip", false, false},
		"only its identity": {long, "identity", false, true},
	} {
		echo := func(context.Context, httpapi.Visitor, struct{}) (text, error) { return text{c.body}, nil }
		r := newRequest(http.MethodPost, "/x", "")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if c.accepts != "" {
			r.Header.Set("Accept-Encoding", c.accepts)
		}
		w := do(newEdge().Serve("/x", httpapi.Methods{http.MethodPost: httpapi.Anyone(httpapi.Limiter{}, echo)}), r)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != c.want {
			t.Errorf("%s: compressed %t", name, got)
			continue
		}
		if got := w.Header().Get("Vary") == "Accept-Encoding"; got != c.varies {
			t.Errorf("%s: Vary %q", name, w.Header().Get("Vary"))
		}
		var body io.Reader = w.Body
		if c.want {
			var err error
			if w.Body.Len() >= len(c.body) {
				t.Errorf("%s: %d bytes of %d", name, w.Body.Len(), len(c.body))
			}
			body, err = gzip.NewReader(w.Body)
			expect.NoError(t, err)
		}
		all, err := io.ReadAll(body)
		expect.NoError(t, err)
		if want := `{"success":true,"data":{"text":"` + c.body + `"}}`; strings.TrimSpace(string(all)) != want {
			t.Errorf("%s: got %s", name, all)
		}
	}
}

func TestErrorPageIsCompressed(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, httpapi.Visit, nothing) (httpapi.Answer, error) {
		return httpapi.Answer{}, fault.BadRequest("No.")
	}
	r := newRequest(http.MethodGet, "/callback", "")
	r.Header.Set("Accept-Encoding", "gzip")
	w := do(newEdge().Serve("/callback", httpapi.Methods{"GET": httpapi.Page(httpapi.Limiter{}, refuse)}), r)
	unpacked, err := gzip.NewReader(w.Body)
	expect.NoError(t, err)
	page, err := io.ReadAll(unpacked)
	expect.NoError(t, err)
	if w.Code != http.StatusBadRequest || !strings.Contains(string(page), "<p>No.</p>") {
		t.Errorf("got %d %s", w.Code, page)
	}
}
