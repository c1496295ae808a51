// Package starttest builds the requests with which the service's pages start an attempt, and variants that no such page
// would send. The package also parses the page that the service returns.
package starttest

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"recordbridge/infra/testkit/expect"
)

// Origin is the origin of the base URL in function tests.
const Origin = "https://api.example"

// Header returns the headers that a browser sends when it submits a form on a page at origin.
func Header(origin string) http.Header {
	return http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {origin},
		"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"},
	}
}

// Body returns a URL-encoded form with start as its start_value.
func Body(start string) string { return url.Values{"start_value": {start}}.Encode() }

// Request returns a request from a page on Origin that submits body as a form.
func Request(tb testing.TB, path, body string) *http.Request {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header = Header(Origin)
	return r
}

// Foreign returns sets of headers that a page on Origin would never send. Each set differs from Header(Origin) in
// exactly one header.
func Foreign() map[string]http.Header {
	all := map[string]http.Header{}
	for name, values := range map[string]map[string][]string{
		"Sec-Fetch-Site": {
			"another site": {"cross-site"}, "a neighbour": {"same-site"}, "an address bar": {"none"}, "nothing": nil,
			"empty":        {""},
			"another case": {"Same-Origin"}, "twice": {"same-origin", "same-origin"}, "two values": {"same-origin, cross-site"},
		},
		"Sec-Fetch-Mode": {
			"a script": {"cors"}, "a script without CORS": {"no-cors"}, "nothing": nil,
			"twice": {"navigate", "navigate"},
		},
		"Origin": {
			"another site": {"https://evil.example"}, "a neighbour": {"https://app.api.example"},
			"another port":   {Origin + ":8443"},
			"another scheme": {"http://api.example"}, "opaque": {"null"}, "nothing": nil, "empty": {""},
			"twice":        {Origin, Origin},
			"another case": {"https://API.example"}, "a path": {Origin + "/"},
		},
	} {
		for what, value := range values {
			header := Header(Origin)
			if header[name] = value; value == nil {
				delete(header, name)
			}
			all[name+": "+what] = header
		}
	}
	return all
}

// Destination returns the URL to which the page in a response sends the browser. The test fails if anything other than
// the page's script navigates to that URL.
func Destination(tb testing.TB, got *httptest.ResponseRecorder) string {
	tb.Helper()
	page := got.Body.String()
	found := regexp.MustCompile(` data-portal="([^"]*)"`).FindStringSubmatch(page)
	if got.Code != http.StatusOK || got.Header().Get("Location") != "" ||
		got.Header().Get("Cache-Control") != "no-store" || found == nil {
		tb.Fatalf("got %d %v, want a page that leads on:\n%s", got.Code, got.Header(), page)
	}
	script := expect.OwnPolicy(tb, got.Header().Get("Content-Security-Policy"), strings.Replace(page, found[1], "", 1))
	if !strings.Contains(script, "window.location.replace(") || got.Header().Get("Referrer-Policy") != "no-referrer" {
		tb.Errorf("the page runs %s and sends %q", script, got.Header().Get("Referrer-Policy"))
	}
	return html.UnescapeString(found[1])
}
