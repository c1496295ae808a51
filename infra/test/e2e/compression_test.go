package e2e_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
)

func TestResponsesAreCompressedFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, o *outside) {
		t.Helper()
		got := o.send(http.MethodGet, "/bridge/callback?state=x&code=y", http.Header{"Accept-Encoding": {"gzip, br"}}, nil)
		if got.header.Get("Content-Encoding") != "gzip" || !strings.Contains(got.header.Get("Vary"), "Accept-Encoding") {
			t.Fatalf("headers %v", got.header)
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(got.raw))
		expect.NoError(t, err)
		page, err := io.ReadAll(unpacked)
		expect.NoError(t, err)
		if !strings.Contains(string(page), "<html lang=") || len(got.raw) >= len(page) {
			t.Errorf("%d bytes of %s", len(got.raw), page)
		}
	})
}
