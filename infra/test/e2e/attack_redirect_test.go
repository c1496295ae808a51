package e2e_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
)

// redirectTrick is a query whose redirect_uri imitates the registered one and must be rejected.
type redirectTrick struct {
	name, query string
}

// redirectTricks returns queries with variations of the registered URI http://127.0.0.1:4568/_local/return.
func redirectTricks() []redirectTrick {
	const registered = customer + "/_local/return"
	escaped := url.QueryEscape(registered)
	tricks := []redirectTrick{
		{"twice, the other one last", "redirect_uri=" + escaped + "&redirect_uri=https%3A%2F%2Fevil.example%2F"},
		{"twice, the other one first", "redirect_uri=https%3A%2F%2Fevil.example%2F&redirect_uri=" + escaped},
		{"twice the same", "redirect_uri=" + escaped + "&redirect_uri=" + escaped},
		{"an escaped name twice", "redirect_uri=" + escaped + "&redirect%5Furi=https%3A%2F%2Fevil.example%2F"},
		{"encoded twice", "redirect_uri=" + url.QueryEscape(escaped)},
	}
	byURI := trickyURIs(registered)
	tricks = slices.Grow(tricks, len(byURI))
	for name, uri := range byURI {
		tricks = append(tricks, redirectTrick{name, "redirect_uri=" + url.QueryEscape(uri)})
	}
	return tricks
}

// trickyURIs returns variations of the registered redirect URI, before percent-encoding.
func trickyURIs(registered string) map[string]string {
	return map[string]string{
		"another host":             "https://evil.example/_local/return",
		"without a scheme":         "//127.0.0.1:4568/_local/return",
		"a path":                   "/_local/return",
		"https":                    "https://127.0.0.1:4568/_local/return",
		"an upper case scheme":     "HTTP://127.0.0.1:4568/_local/return",
		"javascript":               "javascript:alert(1)//127.0.0.1:4568/_local/return",
		"data":                     "data:text/html,<script>location='" + registered + "'</script>",
		"another port":             "http://127.0.0.1:4567/_local/return",
		"no port":                  "http://127.0.0.1/_local/return",
		"a longer port":            "http://127.0.0.1:45680/_local/return",
		"user information":         "http://127.0.0.1:4568@evil.example/_local/return",
		"a user":                   "http://user@127.0.0.1:4568/_local/return",
		"a host that begins so":    "http://127.0.0.1.evil.example:4568/_local/return",
		"a subdomain":              "http://evil.127.0.0.1:4568/_local/return",
		"a trailing dot":           "http://127.0.0.1.:4568/_local/return",
		"the host by another name": "http://localhost:4568/_local/return",
		"the host as a number":     "http://2130706433:4568/_local/return",
		"the host in IPv6":         "http://[::ffff:127.0.0.1]:4568/_local/return",
		"digits of another script": "http://１２７.0.0.1:4568/_local/return",
		"a full stop of another":   "http://127。0。0。1:4568/_local/return",
		"a slash of another":       "http://127.0.0.1:4568∕_local/return",
		"a backslash":              `http://127.0.0.1:4568\@evil.example/_local/return`,
		"backslashes":              `http:\\127.0.0.1:4568\_local\return`,
		"three slashes":            "http:///127.0.0.1:4568/_local/return",
		"one slash":                "http:/127.0.0.1:4568/_local/return",
		"a longer path":            registered + "/more",
		"a path that begins so":    registered + "ing",
		"a slash at the end":       registered + "/",
		"a way up":                 registered + "/../inbox",
		"a way up and back":        "http://127.0.0.1:4568/_local/x/../return",
		"a way up, encoded":        registered + "/%2e%2e/inbox",
		"a dot":                    "http://127.0.0.1:4568/./_local/return",
		"two slashes in the path":  "http://127.0.0.1:4568//_local/return",
		"an encoded letter":        "http://127.0.0.1:4568/_local/%72eturn",
		"an encoded slash":         "http://127.0.0.1:4568/_local%2Freturn",
		"another case":             "http://127.0.0.1:4568/_LOCAL/return",
		"a parameter":              registered + ";x",
		"a query":                  registered + "?next=https://evil.example/",
		"an empty query":           registered + "?",
		"a fragment":               registered + "#@evil.example/",
		"an empty fragment":        registered + "#",
		"a line break":             registered + "\r\nLocation: https://evil.example/",
		"a line feed before":       "\n" + registered,
		"a tab":                    "http://127.0.0.1:4568/_local/re\tturn",
		"a space after":            registered + " ",
		"a space before":           " " + registered,
		"a zero":                   registered + "\x00",
		"a zero width space":       registered + "\u200b",
		"two in one":               registered + ",https://evil.example/",
		"what is not UTF-8":        registered + "\xff",
	}
}

// TestConnectRejectsUnregisteredRedirectURI checks that redirect_uri must exactly match a registered URI. For any other
// redirect URI, connect and reconnect must neither redirect nor start an attempt.
func TestConnectRejectsUnregisteredRedirectURI(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		for path, rest := range redirecting(s.outside, id) {
			for _, trick := range redirectTricks() {
				b := s.patient.browser()
				got := b.get(s.at(path, rest+"&"+trick.query))
				if got.status != http.StatusBadRequest || got.location() != nil || len(b.cookies) != 0 {
					t.Errorf("%s, %s: got %d, Location %q", path, trick.name, got.status, got.header.Get("Location"))
				}
				if strings.Contains(string(got.body), "evil") || got.header.Get("Refresh") != "" ||
					strings.Contains(string(got.body), "http-equiv") {
					t.Errorf("%s, %s: the page is %s", path, trick.name, got.body)
				}
			}
		}
	})
}

// redirecting returns the paths that can redirect, each with its required query parameters other than redirect_uri.
func redirecting(o *outside, connectionID string) map[string]string {
	own := o.seeded.Organisations[0].PublicID
	return map[string]string{
		"/bridge/connect":   url.Values{"public_id": {own}, "endpoint_id": {o.seeded.Sandbox.EndpointID}}.Encode(),
		"/bridge/reconnect": url.Values{"public_id": {own}, "reconnect_org_connection_id": {connectionID}}.Encode(),
	}
}

// TestConnectRedirectsOnlyToRegisteredURI checks that no other parameter can change the redirect's target, whether the
// attempt succeeds or fails.
func TestConnectRedirectsOnlyToRegisteredURI(t *testing.T) {
	t.Parallel()
	escaped := url.QueryEscape(customer + "/_local/return")
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		for path, rest := range redirecting(s.outside, id) {
			for _, query := range []string{
				"redirect_uri=" + escaped,
				"redirect_uri=%68ttp%3a%2f%2f127.0.0.1%3a4568%2f%5flocal%2freturn", // the registered URI, percent-encoded once
				"redirect_uri[]=https%3A%2F%2Fevil.example%2F",
				"Redirect_URI=https%3A%2F%2Fevil.example%2F",
				"redirect_uri=" + escaped + "&redirect_uri[]=https%3A%2F%2Fevil.example%2F",
				"redirect_uri=" + escaped + "&next=https%3A%2F%2Fevil.example%2F&return_to=//evil.example&url=//evil.example",
				"redirect_uri=" + escaped + "&external_state=" +
					url.QueryEscape("\"><script>alert(1)</script>&error=x#https://evil.example/"),
				"redirect_uri=" + escaped + "&external_state=" +
					url.QueryEscape("//evil.example/?a=b&redirect_uri=https://evil.example"),
			} {
				for _, decision := range []string{"approve", "deny"} {
					checkWay(t, s.outside, s.at(path, rest+"&"+query), decision)
				}
			}
		}
	})
}

func (o *outside) at(path, query string) *url.URL {
	o.t.Helper()
	address, err := url.Parse(o.seeded.BaseURL + path)
	expect.NoError(o.t, err)
	address.RawQuery = query
	return address
}

func (o browsing) callback() string {
	return o.seeded.BaseURL + "/bridge/callback/" +
		catalog.CallbackOf("*", catalog.Place{EndpointID: o.seeded.Sandbox.EndpointID})
}

// checkWay follows a browser from address through the portal to the callback, and checks that it ends at the registered
// URI.
func checkWay(t *testing.T, o *outside, address *url.URL, decision string) {
	t.Helper()
	b := o.patient.browser()
	for _, want := range []string{
		o.seeded.BaseURL + "/sandbox/oauth/authorize", o.patient.callback(),
		o.seeded.Organisations[0].RedirectURI,
	} {
		got := b.get(address).location()
		if got == nil || got.Scheme+"://"+got.Host+got.Path != want || got.User != nil || got.Fragment != "" {
			t.Errorf("%s leads to %v, want %s", address, got, want)
			return
		}
		if got.Query().Has("redirect_uri") && got.Query().Get("redirect_uri") != o.patient.callback() {
			t.Errorf("the portal is told to return to %s", got.Query().Get("redirect_uri"))
		}
		query := got.Query()
		if strings.HasSuffix(want, "/authorize") {
			query.Set("persona", crashPersona)
			query.Set("decision", decision)
		}
		got.RawQuery = query.Encode()
		address = got
	}
	if (address.Query().Get("error") == "access_denied") != (decision == "deny") {
		t.Errorf("a patient who says %s comes back with %v", decision, address.Query())
	}
}

// TestRedirectsPreventHeaderInjectionFromOutside checks that a line break in a forwarded parameter is either rejected
// or encoded within the query.
func TestRedirectsPreventHeaderInjectionFromOutside(t *testing.T) {
	t.Parallel()
	fromOutside(t, func(t *testing.T, s *outside) {
		t.Helper()
		id := s.patient.connect(crashPersona, "approve").Get("org_connection_id")
		for path, rest := range redirecting(s, id) {
			for _, name := range []string{"external_state", "external_id", "request_id", "endpoint_id", "public_id"} {
				query, err := url.ParseQuery(rest + "&redirect_uri=" + url.QueryEscape(s.seeded.Organisations[0].RedirectURI))
				expect.NoError(t, err)
				query.Set(name, "x\r\nSet-Cookie: evil=1\r\n\r\n<script>")
				got := s.patient.browser().get(s.at(path, query.Encode()))
				for header, values := range got.header {
					if all := strings.Join(values, " "); strings.ContainsAny(all, "\r\n") || strings.Contains(all, "evil=1") &&
						header == "Set-Cookie" {
						t.Errorf("%s, %s: %s: %q", path, name, header, values)
					}
				}
				if strings.Contains(string(got.body), "<script>") {
					t.Errorf("%s, %s: the page is %s", path, name, got.body)
				}
			}
		}
	})
}
