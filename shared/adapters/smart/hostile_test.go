package smart_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

const honestBase = "https://fhir.alder.example/r4"

// wiretap simulates the internet: it responds to requests for any host and records each request.
type wiretap struct {
	answer func(*http.Request) (status int, location string)

	mu   sync.Mutex
	sent []*http.Request
}

// Do implements smart.Doer.
func (w *wiretap) Do(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.sent = append(w.sent, r)
	w.mu.Unlock()
	status, location := w.answer(r)
	header := http.Header{}
	if location != "" {
		header.Set("Location", location)
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

// reader returns a source.Server for the honest server. The reader's requests pass through the wiretap.
func (w *wiretap) reader(t *testing.T) source.Server {
	t.Helper()
	return readerOf(t, w, honestBase, plan.Profile{Query: map[string]string{"own": "1"}}, bearer)
}

// check fails the test if a request was sent to a URL outside the base.
func (w *wiretap) check(t *testing.T) {
	t.Helper()
	for _, r := range w.sent {
		origin := r.URL.Scheme + "://" + r.URL.Host
		under := r.URL.EscapedPath() == "/r4" || strings.HasPrefix(r.URL.EscapedPath(), "/r4/")
		if origin != "https://fhir.alder.example" || !under || r.URL.User != nil || r.Host != r.URL.Host {
			t.Errorf("%s was sent, with Authorization %q", r.URL, r.Header.Get("Authorization"))
		}
	}
}

// attacks returns links that a hostile server may send. A link's value is true if it is rewritten to a URL under the
// base and may be requested. No other link may be followed.
func attacks() map[string]bool {
	return map[string]bool{
		"https://evil.example/x":                               false,
		"https://evil.example/r4/Observation":                  true,
		"https://evil.example/r4b/Observation":                 false,
		"https://fhir.alder.example.evil.example/x":            false,
		"https://fhir.alder.example.evil.example/r4/x":         true,
		"//evil.example/x":                                     false,
		"//evil.example/r4/Observation":                        true,
		"http://fhir.alder.example/r4/Observation":             true,
		"http://fhir.alder.example/x":                          false,
		"https://fhir.alder.example:8443/r4/Observation":       true,
		"https://fhir.alder.example:8443/x":                    false,
		"https://maple@fhir.alder.example/r4/Observation":      false,
		"https://maple:leaf@fhir.alder.example/r4/Observation": false,
		"https://fhir.alder.example@evil.example/r4/x":         false,
		"https://fhir.alder.example%2f@evil.example/r4/x":      false,
		"https://fhir.alder.example\\@evil.example/r4/x":       false,
		"..%2fadmin":                  false,
		"/r4/..%2fadmin":              false,
		"/r4/..%5cadmin":              false,
		"/r4/%2e%2e/admin":            false,
		"/r4/Patient/../../admin":     false,
		"../../../admin":              false,
		"/r4//evil.example/x":         false,
		"/admin":                      false,
		"/r4b/Observation":            false,
		"\\\\evil.example\\r4\\x":     false,
		"/\\evil.example/r4/x":        false,
		"https:evil.example/r4/x":     false,
		"https:///r4/x":               false,
		"https://#@evil.example/r4/x": false,
		"https://fhir.alder.example/r4/x\r\nHost: evil.example": false,
		"javascript:alert(1)":           false,
		"data:application/pdf,maple":    false,
		"file:///r4/x":                  false,
		"ftp://fhir.alder.example/r4/x": false,
		"urn:uuid:0b1c":                 false,
	}
}

// calls returns all of the reader's calls. Each call starts with a URL on the honest server.
func calls(ctx context.Context, r source.Server) map[string]func() error {
	return map[string]func() error{
		"read": func() error {
			_, err := r.Read(ctx, "Binary", "1", fhir.MaxPage)
			return err
		},
		"search": func() error {
			_, err := r.Search(ctx, "Patient/p1/$everything", nil, fhir.MaxPage)
			return err
		},
		"page": func() error {
			_, err := r.Page(ctx, honestBase+"/Observation?page=2", fhir.MaxPage)
			return err
		},
		"attachment": func() error {
			_, err := r.Attachment(ctx, "Binary/1", 100)
			return err
		},
		"metadata": func() error {
			_, err := r.Metadata(ctx)
			return err
		},
	}
}

func TestReaderRejectsHostileLinks(t *testing.T) {
	t.Parallel()
	for link, disguised := range attacks() {
		w := &wiretap{answer: func(*http.Request) (int, string) { return http.StatusOK, "" }}
		r := w.reader(t)
		_, pageErr := r.Page(t.Context(), link, fhir.MaxPage)
		_, fileErr := r.Attachment(t.Context(), link, 100)
		w.check(t)
		if disguised {
			if pageErr != nil || fileErr != nil || len(w.sent) != 2 {
				t.Errorf("%q: %v, %v after %d requests, want it asked under the base", link, pageErr, fileErr, len(w.sent))
			}
			continue
		}
		wantFailure(t, pageErr, fhir.ForeignLink)
		wantFailure(t, fileErr, fhir.ForeignLink)
		if len(w.sent) != 0 {
			t.Errorf("%q caused %d requests", link, len(w.sent))
		}
	}
}

func TestReaderRejectsHostileRedirects(t *testing.T) {
	t.Parallel()
	for link, disguised := range attacks() {
		for _, status := range []int{301, 302, 303, 307, 308} {
			w := &wiretap{}
			for name, call := range calls(t.Context(), w.reader(t)) {
				w.sent = nil
				w.answer = func(*http.Request) (int, string) {
					if len(w.sent) == 1 {
						return status, link
					}
					return http.StatusOK, ""
				}
				err := call()
				w.check(t)
				if disguised {
					if err != nil || len(w.sent) != 2 {
						t.Errorf("%s, %d to %q: %v after %d requests, want it asked under the base", name, status, link, err, len(w.sent))
					}
					continue
				}
				if wantFailure(t, err, fhir.ForeignLink).Status != status || len(w.sent) != 1 {
					t.Errorf("%s, %d to %q caused %d requests", name, status, link, len(w.sent))
				}
			}
		}
	}
}

func TestReaderRejectsHostileRedirectAfterValidRedirect(t *testing.T) {
	t.Parallel()
	for name := range calls(t.Context(), nil) {
		w := &wiretap{}
		w.answer = func(*http.Request) (int, string) {
			if len(w.sent) < 3 {
				return http.StatusFound, honestBase + "/Basic/" + strings.Repeat("x", len(w.sent))
			}
			return http.StatusFound, "https://evil.example/x"
		}
		wantFailure(t, calls(t.Context(), w.reader(t))[name](), fhir.ForeignLink)
		w.check(t)
		if len(w.sent) != 3 {
			t.Errorf("%s: %d requests, want 3", name, len(w.sent))
		}
	}
}

// TestProfileHeadersCannotReplaceTokenOrHost checks that a profile can't replace a request's credentials or
// destination, although profiles are trusted configuration.
func TestProfileHeadersCannotReplaceTokenOrHost(t *testing.T) {
	t.Parallel()
	w := &wiretap{answer: func(*http.Request) (int, string) { return http.StatusOK, "" }}
	r := readerOf(t, w, honestBase, plan.Profile{Headers: map[string]string{
		"authorization": "Basic birch", "HOST": "evil.example", "accept-encoding": "br", "Accept": "text/html",
		"x-own": "yes",
	}}, bearer)
	for name, call := range calls(t.Context(), r) {
		w.sent = nil
		if err := call(); err != nil {
			t.Fatal(err)
		}
		w.check(t)
		var sent bytes.Buffer
		if err := w.sent[0].Write(&sent); err != nil {
			t.Fatal(err)
		}
		want := "Bearer " + accessToken
		if name == "metadata" {
			want = ""
		}
		if got := w.sent[0].Header.Get("Authorization"); got != want {
			t.Errorf("%s sent Authorization %q", name, got)
		}
		if got := w.sent[0].Header.Get("X-Own"); got != "yes" {
			t.Errorf("%s sent X-Own %q", name, got)
		}
		for _, foreign := range []string{"evil", "birch", "Accept-Encoding", "text/html"} {
			if strings.Contains(sent.String(), foreign) {
				t.Errorf("%s sent %q", name, sent.String())
			}
		}
	}
}

func TestProfileAddsParametersToEveryRequest(t *testing.T) {
	t.Parallel()
	var redirected bool
	w := &wiretap{answer: func(r *http.Request) (int, string) {
		if redirected || !strings.HasSuffix(r.URL.Path, "/moved") {
			return http.StatusOK, ""
		}
		redirected = true
		return http.StatusFound, "elsewhere"
	}}
	r := readerOf(t, w, honestBase,
		plan.Profile{Query: map[string]string{"practice": "Organization/a&b", "_format": "json"}}, bearer)
	const both = "_format=json&practice=Organization%2Fa%26b"
	_, failures := r.Metadata(t.Context())
	for _, ask := range []func() error{
		func() error { _, err := r.Read(t.Context(), "Patient", "moved", fhir.MaxPage); return err },
		func() error { _, err := r.Search(t.Context(), "Basic", query("x", "y"), fhir.MaxPage); return err },
		func() error {
			_, err := r.Search(t.Context(), "Basic", query("_format", "xml"), fhir.MaxPage)
			return err
		},
		func() error {
			_, err := r.Page(t.Context(), "/r4?_getpages=x%20y;&practice=", fhir.MaxPage)
			return err
		},
		func() error { _, err := r.Page(t.Context(), "/r4/Basic?"+both, fhir.MaxPage); return err },
		func() error { _, err := r.Page(t.Context(), "/r4/Basic?", fhir.MaxPage); return err },
		func() error { _, err := r.Attachment(t.Context(), "Binary/1", 1); return err },
	} {
		failures = errors.Join(failures, ask())
	}
	if failures != nil {
		t.Fatal(failures)
	}
	want := []string{
		"/metadata?" + both, "/Patient/moved?" + both, "/Patient/elsewhere?" + both, "/Basic?x=y&" + both,
		"/Basic?_format=xml&practice=Organization%2Fa%26b", "?_getpages=x%20y;&practice=&_format=json", "/Basic?" + both,
		"/Basic?" + both, "/Binary/1?" + both,
	}
	if len(w.sent) != len(want) {
		t.Fatalf("%d requests, want %d", len(w.sent), len(want))
	}
	for i, path := range want {
		if got := w.sent[i].URL.String(); got != honestBase+path {
			t.Errorf("asked for %s, want %s", got, honestBase+path)
		}
	}
}
