package callback_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"recordbridge/shared/fault"
	"recordbridge/shared/flow"
	"recordbridge/shared/httpapi"
)

// wantCalmPage checks what every page in a widget's window has: no script, nothing from elsewhere, the cookie gone.
func wantCalmPage(t *testing.T, header http.Header, page string) {
	t.Helper()
	policy := "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if got := header.Get("Content-Security-Policy"); got != policy || header.Get("Location") != "" || header.Get("Cache-Control") != "no-store" {
		t.Errorf("policy %q, Location %q", got, header.Get("Location"))
	}
	if elsewhere := regexp.MustCompile(`<script|src=|href=|https?:|{{`).FindString(page); elsewhere != "" {
		t.Errorf("the page has %q", elsewhere)
	}
	for _, part := range []string{`<html lang="en">`, "width=device-width", "<h1>", "You can close this window"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

func TestAWidgetsWindowEndsOnAPage(t *testing.T) {
	t.Parallel()
	c := completer{done: flow.Completed{InWidget: true, Result: url.Values{"org_connection_id": {"c1"}}}}
	w := c.visit(t, httpapi.Limiter{}, http.MethodGet, "?state=s1&code=c", "binding")
	if page := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(page, "You are connected") || strings.Contains(page, "c1") {
		t.Errorf("got %d %s", w.Code, page)
	}
	wantCalmPage(t, w.Header(), w.Body.String())
	wantEndedCookie(t, w)
}

func TestAWidgetsWindowSaysWhatWentWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   error
		shown string
	}{
		"a refusal":       {fault.New(fault.Upstream, "access_denied", "The patient declined."), "The patient declined."},
		"markup":          {fault.BadRequest("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;"},
		"our own failure": {errTrouble, "Something went wrong on our side."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flows := completer{done: flow.Completed{InWidget: true, ExternalState: "visit&9"}, err: c.err}
			w := flows.visit(t, httpapi.Limiter{}, http.MethodGet, "?state=s1&error=any&error_description=evil", "binding")
			page := w.Body.String()
			if w.Code != http.StatusOK || !strings.Contains(page, c.shown) || !strings.Contains(page, requestID) {
				t.Errorf("got %d %s", w.Code, page)
			}
			if strings.Contains(page, "evil") || strings.Contains(page, "10.0.0.7") || strings.Contains(page, "You are connected") {
				t.Errorf("the page says what it must not:\n%s", page)
			}
			if len(flows.requests) != 1 || flows.requests[0] != requestID {
				t.Errorf("the attempt got the request ids %q, the page %s", flows.requests, requestID)
			}
			wantCalmPage(t, w.Header(), page)
			wantEndedCookie(t, w)
		})
	}
}
