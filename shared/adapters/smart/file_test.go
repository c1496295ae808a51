package smart_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"recordbridge/shared/fhir"
)

// bomb returns a handler that responds with many megabytes of spaces, which compress to a tiny body.
func bomb(status, megabytes int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		packed := gzip.NewWriter(w)
		spaces := []byte(strings.Repeat(" ", 1<<20))
		for range megabytes {
			_, _ = packed.Write(spaces)
		}
		_ = packed.Close()
	}
}

func TestAttachmentReturnsBodyUnchanged(t *testing.T) {
	t.Parallel()
	const content = "\x89PNG\r\n\x1a\n\x00"
	e := newEHR(t, map[string]http.HandlerFunc{
		"/r4/Binary/1": reply(http.StatusOK, content, "Content-Type", "Image/PNG; a=b", "RateLimit-Limit", "10",
			"RateLimit-Remaining", "3"),
	})
	for _, address := range []string{e.URL + "/r4/Binary/1", "Binary/1", "/r4/Binary/1"} {
		got, err := reader(t, e.URL+"/r4").Attachment(t.Context(), address, int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(got.Body)
		if err != nil || string(body) != content || got.ContentType != "image/png; a=b" || got.Rate.Remaining != 3 {
			t.Errorf("%s: %q of %q, %v", address, body, got.ContentType, err)
		}
		if err := got.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	last := e.requests()[2]
	if last.Header.Get("Accept") != "*/*" || last.Header.Get("Authorization") != "Bearer "+accessToken {
		t.Errorf("sent %v", last.Header)
	}
}

func TestAttachmentOmitsInvalidMediaType(t *testing.T) {
	t.Parallel()
	for stated, want := range map[string]string{
		"":                         "",
		"image":                    "image",
		"a/b/c":                    "",
		"text/html; charset=utf-8": "text/html; charset=utf-8",
		"text/html; charset":       "",
		"text/html; x=" + strings.Repeat("x", 300): "",
	} {
		// net/http's server guesses a missing Content-Type unless the header is present without a value.
		e := newEHR(t, map[string]http.HandlerFunc{"": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if stated != "" {
				w.Header().Set("Content-Type", stated)
			}
			_, _ = io.WriteString(w, "maple")
		}})
		got, err := reader(t, e.URL).Attachment(t.Context(), "Binary/1", 100)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.ContentType != want {
			t.Errorf("%q became %q, want %q", stated, got.ContentType, want)
		}
	}
}

func TestAttachmentStopsAtSizeLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	chunked := func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, strings.Repeat("x", limit+1))
	}
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		limit  int64
		given  int64
		class  fhir.Class
	}{
		"exactly the limit":    {reply(200, strings.Repeat("x", limit)), limit, limit, ""},
		"nothing, of nothing":  {reply(200, ""), 0, 0, ""},
		"one byte, of nothing": {reply(200, "x"), 0, 0, fhir.TooLarge},
		"a negative limit":     {chunked, -7, 0, fhir.TooLarge},
		"stated too large": {
			reply(200, strings.Repeat("x", limit+1), "Content-Length", strconv.Itoa(limit+1)), limit, 0,
			fhir.TooLarge,
		},
		"one byte too large": {chunked, limit, limit, fhir.TooLarge},
		"bomb":               {bomb(200, 8), limit, limit, fhir.TooLarge},
		"cut off":            {reply(200, "xx", "Content-Length", "10"), limit, 2, fhir.Network},
		"fake gzip":          {reply(200, "xx", "Content-Encoding", "gzip"), limit, 0, fhir.Network},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEHR(t, map[string]http.HandlerFunc{"": test.answer})
			got, err := reader(t, e.URL).Attachment(t.Context(), "Binary/1", test.limit)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = got.Body.Close() }()
			given, err := io.Copy(io.Discard, got.Body)
			if given != test.given {
				t.Errorf("gave %d bytes, want %d", given, test.given)
			}
			if test.class == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFailure(t, err, test.class)
			if n, again := got.Body.Read(make([]byte, 10)); n != 0 || again == nil || errors.Is(again, io.EOF) {
				t.Errorf("went on with %d bytes, %v", n, again)
			}
		})
	}
}

func TestAttachmentReportsErrorResponse(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"": reply(http.StatusTooManyRequests, "maple", "Retry-After", "7")})
	_, err := reader(t, e.URL).Attachment(t.Context(), "Binary/1", 100)
	if failure := wantFailure(t, err, fhir.Limited); failure.Status != 429 || failure.RetryAfter.Seconds() != 7 {
		t.Errorf("got %+v", failure)
	}
}

func TestAttachmentStopsWhenContextIsDone(t *testing.T) {
	t.Parallel()
	e := newEHR(t, map[string]http.HandlerFunc{"": func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got, err := reader(t, e.URL).Attachment(ctx, "Binary/1", 100)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	if _, err = io.ReadFull(got.Body, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = got.Body.Read(make([]byte, 10))
	wantFailure(t, err, fhir.Network)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it to unwrap to context.Canceled", err)
	}
}

func TestReaderEnforcesCallerSizeLimit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads hundreds of megabytes")
	}
	small, page := "{"+strings.Repeat(" ", 98)+"}", "{"+strings.Repeat(" ", fhir.MaxPage)
	e := newEHR(t, map[string]http.HandlerFunc{
		"/Basic/small": reply(200, small), "/Basic/bomb": bomb(200, 8), "/Basic/page": reply(200, page),
		"/Basic": reply(200, small), "/Patient/p1/$everything": bomb(200, 40),
	})
	r := reader(t, e.URL)
	for _, ask := range []func(limit int64) error{
		func(limit int64) error { _, err := r.Read(t.Context(), "Basic", "small", limit); return err },
		func(limit int64) error { _, err := r.Search(t.Context(), "Basic", nil, limit); return err },
		func(limit int64) error { _, err := r.Page(t.Context(), "Basic?page=2", limit); return err },
	} {
		if err := ask(100); err != nil {
			t.Errorf("100 bytes within 100: %v", err)
		}
		for _, limit := range []int64{99, 0, -1, -1 << 40} {
			wantFailure(t, ask(limit), fhir.TooLarge)
		}
	}
	for _, ask := range []func() error{
		func() error { _, err := r.Read(t.Context(), "Basic", "bomb", 1<<20); return err },
		func() error { _, err := r.Read(t.Context(), "Basic", "page", 1<<40); return err },
		func() error { _, err := r.Search(t.Context(), "Patient/p1/$everything", nil, 1<<40); return err },
	} {
		wantFailure(t, ask(), fhir.TooLarge)
	}
}
