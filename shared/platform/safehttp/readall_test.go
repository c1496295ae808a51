package safehttp_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/platform/safehttp"
)

func TestReadAllStopsAtLimit(t *testing.T) {
	t.Parallel()
	s := server(t, (*httptest.Server).Start,
		func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "12345") })
	client := safehttp.New(loopback())
	if _, body, err := get(t, client, s.URL, 5); body != "12345" || err != nil {
		t.Errorf("at the limit: %q, %v", body, err)
	}
	_, body, err := get(t, client, s.URL, 4)
	wantClass(t, err, safehttp.TooLarge)
	if body != "1234" {
		t.Errorf("over the limit: got %q, want the first 4 bytes", body)
	}
}

func TestReadAllLimitsDecompressedSize(t *testing.T) {
	t.Parallel()
	s := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		zeros := make([]byte, 1<<20)
		for range 1 << 10 { // 1 GiB, compressed to about 1 MiB
			if _, err := packed.Write(zeros); err != nil {
				return
			}
		}
		_ = packed.Close()
	})
	_, body, err := get(t, safehttp.New(loopback()), s.URL, 1<<20)
	wantClass(t, err, safehttp.TooLarge)
	if len(body) != 1<<20 {
		t.Errorf("read %d bytes, want 1 MiB", len(body))
	}
}

func TestReadAllClassifiesTruncatedBody(t *testing.T) {
	t.Parallel()
	short := server(t, (*httptest.Server).Start, hijack("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsecret"))
	noGzip := server(t, (*httptest.Server).Start,
		hijack("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\nsecret"))
	drip := server(t, (*httptest.Server).Start, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	client := safehttp.NewWith(loopback(), nil, nil, 200*time.Millisecond)
	for address, class := range map[string]safehttp.Class{
		short.URL: safehttp.BadAnswer, noGzip.URL: safehttp.BadAnswer, drip.URL: safehttp.Timeout,
	} {
		_, body, err := get(t, client, address, 100)
		wantClass(t, err, class)
		if body != "" {
			t.Errorf("a broken body was returned: %q", body)
		}
	}
}

type broken struct{ left int }

func (b *broken) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

func (*broken) Close() error { return nil }

func TestReadAllReturnsCompleteBody(t *testing.T) {
	t.Parallel()
	const large = 8 << 20
	for _, size := range []int{0, 1, large - 1, large, large + 1, 2*large + 5} {
		for _, limit := range []int64{large - 1, large, 2 * large, 3 * large} {
			body := strings.Repeat("x", size)
			got, err := safehttp.ReadAll(&http.Response{Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}, limit)
			failure, isFailure := errors.AsType[*safehttp.Error](err)
			if tooLarge := int64(size) > limit; tooLarge != (isFailure && failure.Class == safehttp.TooLarge) ||
				int64(len(got)) != min(int64(size), limit) {
				t.Errorf("%d bytes under a limit of %d: %d bytes and %v", size, limit, len(got), err)
			}
		}
		if size > 0 {
			if got, err := safehttp.ReadAll(&http.Response{Body: &broken{left: size}, ContentLength: -1},
				3*large); err == nil || got != nil {
				t.Errorf("a body that ends after %d bytes was read as whole: %d bytes", size, len(got))
			}
		}
	}
}
