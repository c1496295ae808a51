package connect_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"recordbridge/functions/connect"
	"recordbridge/infra/testkit/keyedtest"
	"recordbridge/infra/testkit/starttest"
	"recordbridge/shared/adapters/httpapi"
	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
)

// wantErrorPage checks that the response is an error page, that no attempt was started, and that no cookie was set.
func (s *starter) wantErrorPage(t *testing.T, name string, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	h, page := w.Header(), w.Body.String()
	if w.Code != status || h.Get("Location") != "" || len(h.Values("Set-Cookie")) != 0 ||
		h.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%s: got %d %v, want a page with %d", name, w.Code, h, status)
	}
	if strings.Contains(page, "start-1") || !strings.Contains(page, keyedtest.RequestID) ||
		strings.Contains(page, authorize) {
		t.Errorf("%s: page\n%s", name, page)
	}
	if len(s.asked) != 0 {
		t.Errorf("%s: asked %d times", name, len(s.asked))
	}
}

func TestConnectRedirectsToPortalOnPostedStartValue(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		connect.Route, connect.Route + "?public_id=" + oneURI,
		connect.Route + "?attempt=other",
	} {
		var s starter
		w := s.send(t, httpapi.Limiter{}, starttest.Request(t, path, starttest.Body("start-1")))
		if got := starttest.Destination(t, w); got != authorize {
			t.Errorf("%s: leads to %q, want %q", path, got, authorize)
		}
		wantCookie := "__Host-attempt-2=binding; Path=/; Max-Age=1200; HttpOnly; Secure; SameSite=Lax"
		if got := w.Header().Values("Set-Cookie"); len(got) != 1 || got[0] != wantCookie {
			t.Errorf("%s: cookies %q, want %q", path, got, wantCookie)
		}
		if len(s.left) != 1 || s.left[0] != "start-1" || len(s.asked) != 0 {
			t.Errorf("%s: left with %q, asked %d times", path, s.left, len(s.asked))
		}
	}
}

func TestConnectRejectsStartValueInURL(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"as before": "?attempt=start-1", "in the form's name": "?start_value=start-1&attempt=",
		"with an organisation": "?attempt=start-1&public_id=" + oneURI +
			"&redirect_uri=" + url.QueryEscape(returnURI), "with nothing": "",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			var s starter
			r := httptest.NewRequest(method, connect.Route+query, http.NoBody)
			r.Header = starttest.Header(starttest.Origin)
			w := s.send(t, httpapi.Limiter{}, r)
			if method == http.MethodHead {
				w.Body.WriteString(keyedtest.RequestID) // responses to HEAD have no body
			}
			s.wantErrorPage(t, name, w, 400)
			if len(s.left) != 0 {
				t.Errorf("%s: left with %q", name, s.left)
			}
		}
	}
}

func TestConnectIgnoresStartValueInQueryOfPost(t *testing.T) {
	t.Parallel()
	var s starter
	w := s.send(t, httpapi.Limiter{}, starttest.Request(t, connect.Route+"?start_value=start-1&attempt=start-1", ""))
	s.wantErrorPage(t, "query", w, 400)
	if len(s.left) != 0 {
		t.Errorf("left with %q", s.left)
	}
}

func TestConnectRejectsCrossOriginStartValue(t *testing.T) {
	t.Parallel()
	for name, header := range starttest.Foreign() {
		var s starter
		r := starttest.Request(t, connect.Route, starttest.Body("start-1"))
		r.Header = header
		s.wantErrorPage(t, name, s.send(t, httpapi.Limiter{}, r), 400)
		if len(s.left) != 0 {
			t.Errorf("%s: left with %q", name, s.left)
		}
	}
}

func TestConnectShowsErrorPageWhenStartFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query, body string
		err         error
		status      int
	}{
		"used":      {"", "start_value=start-1", fault.BadRequest("This sign-in was opened before."), 400},
		"none":      {"", "start_value=", nil, 400},
		"no form":   {"", "", nil, 400},
		"twice":     {"", "start_value=a&start_value=b", nil, 400},
		"not text":  {"", "start_value=%ff", nil, 400},
		"malformed": {"", "start_value=%", nil, 400},
		"too long":  {"", "start_value=" + strings.Repeat("a", 64<<10), nil, 400},
		"with a caller": {
			"?public_id=" + oneURI + "&redirect_uri=" + url.QueryEscape(returnURI), "start_value=start-1",
			fault.BadRequest("Used."), 400,
		},
		"our failure": {"", "start_value=start-1", errTrouble, 500},
	} {
		s := starter{err: c.err}
		w := s.send(t, httpapi.Limiter{}, starttest.Request(t, connect.Route+c.query, c.body))
		s.wantErrorPage(t, name, w, c.status)
		if c.err == nil && len(s.left) != 0 {
			t.Errorf("%s: left with %q", name, s.left)
		}
	}
}

func TestConnectRejectsStartValueWithWrongMediaType(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(http.Header){
		"JSON":       func(h http.Header) { h.Set("Content-Type", "application/json") },
		"plain text": func(h http.Header) { h.Set("Content-Type", "text/plain") },
		"multipart":  func(h http.Header) { h.Set("Content-Type", "multipart/form-data; boundary=x") },
		"nothing":    func(h http.Header) { h.Del("Content-Type") },
		"compressed": func(h http.Header) { h.Set("Content-Encoding", "gzip") },
	} {
		var s starter
		r := starttest.Request(t, connect.Route, starttest.Body("start-1"))
		change(r.Header)
		s.wantErrorPage(t, name, s.send(t, httpapi.Limiter{}, r), 400)
		if len(s.left) != 0 {
			t.Errorf("%s: left with %q", name, s.left)
		}
	}
}

func TestConnectLimitsStartRequestsPerNetwork(t *testing.T) {
	t.Parallel()
	limiter := httpapi.Limiter{
		Buckets: fullBuckets{},
		Limit:   ratelimit.Limit{Name: "connect", Quota: 1, Window: time.Minute},
	}
	for _, r := range []*http.Request{
		starttest.Request(t, connect.Route, starttest.Body("start-1")),
		httptest.NewRequest(http.MethodGet, connect.Route+"?attempt=start-1", http.NoBody),
	} {
		var s starter
		if w := s.send(t, limiter, r); w.Code != http.StatusTooManyRequests || len(s.left) != 0 {
			t.Errorf("%s: got %d, left with %q", r.Method, w.Code, s.left)
		}
	}
}
