package probe_test

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"recordbridge/shared/adapters/smart/probe"
	"recordbridge/shared/platform/safehttp"
)

// answer is the response to requests with a given method and path suffix.
type answer struct {
	method, suffix string
	status         int
	mediaType      string
	body           string
	location       string
	class          safehttp.Class // error class if no response is received
}

func (a answer) isFor(r *http.Request) bool {
	return r.Method == a.method && strings.HasSuffix(r.URL.Path, a.suffix)
}

func (a answer) to(r *http.Request) (*http.Response, error) {
	if a.class != "" {
		return nil, &safehttp.Error{Class: a.class}
	}
	header := http.Header{"Content-Type": {a.mediaType}}
	if a.location != "" {
		header.Set("Location", a.location)
	}
	return &http.Response{
		StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body)),
		Request: r,
	}, nil
}

const (
	configured = "/.well-known/smart-configuration"
	page       = "<html>Please sign in to the firewall, alder.finch@example.com</html>"
)

// TestRunClassifiesResponses covers responses from intermediaries between the client and a health system.
func TestRunClassifiesResponses(t *testing.T) {
	t.Parallel()
	html, asJSON := "text/html; charset=utf-8", "application/json"
	for name, test := range map[string]struct {
		instead answer
		want    told
	}{
		"no such name": {
			answer{method: "GET", suffix: configured, class: safehttp.DNS},
			told{"address": {probe.Failed, "doesn't resolve"}, "discovery": {probe.Skipped, ""}},
		},
		"a closed port": {
			answer{method: "GET", suffix: configured, class: safehttp.Connect},
			told{"address": {probe.Failed, "refuses the connection"}},
		},
		"a bad certificate": {
			answer{method: "GET", suffix: configured, class: safehttp.TLS},
			told{"address": {probe.Failed, "certificate"}},
		},
		"silence": {
			answer{method: "GET", suffix: configured, class: safehttp.Timeout},
			told{"address": {probe.Failed, "timed out"}},
		},
		"a private address": {
			answer{method: "GET", suffix: configured, class: safehttp.BlockedAddress},
			told{"address": {probe.Failed, "doesn't connect to it"}},
		},
		"not HTTP": {
			answer{method: "GET", suffix: configured, class: safehttp.BadAnswer},
			told{"address": {probe.Failed, "not HTTP"}},
		},
		"a firewall": {
			answer{"GET", configured, 403, html, page, "", ""},
			told{"discovery": {probe.Warning, "403"}, "pins": {probe.Failed, "issuer"}},
		},
		"an hour of trouble": {
			answer{"GET", configured, 503, html, page, "", ""},
			told{"discovery": {probe.Warning, "503"}, "pins": {probe.Failed, "Try again later"}},
		},
		"JSON called text": {
			answer{"GET", configured, 200, "text/plain", minimal("S256"), "", ""},
			told{"discovery": {probe.Warning, "text/plain"}, "pins": {probe.Failed, "issuer"}},
		},
		"only plain": {
			answer{"GET", configured, 200, asJSON, minimal("plain"), "", ""},
			told{"discovery": {probe.OK, ""}, "pkce": {probe.Failed, "not S256"}},
		},
		"an unusable address": {answer{
			"GET", configured, 200, asJSON, `{"token_endpoint":"ftp://ehr.example/token"}`, "",
			"",
		}, told{"discovery": {probe.Failed, "token_endpoint"}}},
		"signs for terminals": {
			answer{"GET", configured, 200, asJSON, strings.Replace(minimal("S256"), "{",
				`{"issuer":"\u009b31m`+strings.Repeat("long-", 60)+`",`, 1), "", ""},
			told{"issuer": {probe.OK, `"_31mlong-`}, "pins": {probe.Failed, "to _31mlong-"}},
		},
		"broken JSON": {
			answer{"GET", configured, 200, asJSON, `{"token_endpoint":`, "", ""},
			told{"discovery": {probe.Warning, "not the requested document"}, "pins": {probe.Failed, "issuer"}},
		},
		"nothing of FHIR": {
			answer{"GET", "/metadata", 404, html, page, "", ""},
			told{"capability_statement": {probe.Warning, "404"}, "resource_types": {probe.Skipped, ""}},
		},
		"an older release": {
			answer{
				"GET", "/metadata", 200, asJSON,
				`{"resourceType":"CapabilityStatement","fhirVersion":"3.0.2","format":["xml"],` +
					`"rest":[{"resource":[{"type":"Observation","searchParam":[{"name":"patient"}]}]}]}`, "", "",
			},
			told{"capability_statement": {
				probe.Warning,
				"3.0.2, not R4 (4.0.1). It lists the formats xml, but not JSON. It doesn't list Patient",
			}},
		},
		"nothing to search": {
			answer{
				"GET", "/metadata", 200, asJSON,
				`{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","format":["json"],` +
					`"rest":[{"resource":[{"type":"Patient","searchParam":[{"name":"name"}]}]}]}`, "", "",
			},
			told{"resource_types": {probe.Failed, "search no types"}, "searches": {probe.Warning, "_id"}},
		},
		"no token endpoint": {
			answer{"POST", "/oauth/token", 404, html, page, "", ""},
			told{"token_refresh": {probe.Failed, "404"}, "token_code": {probe.Failed, "404"}},
		},
		"a guarded one": {
			answer{"POST", "/oauth/token", 401, html, page, "", ""},
			told{"token_refresh": {probe.Failed, "a gateway in front of it"}, "token_code": {probe.Skipped, ""}},
		},
		"a silent one": {
			answer{method: "POST", suffix: "/oauth/token", class: safehttp.Timeout},
			told{"token_refresh": {probe.Failed, "timed out"}, "token_code": {probe.Failed, "timed out"}},
		},
		"one that is not open": {
			answer{method: "GET", suffix: "/oauth/token", class: safehttp.Connect},
			told{"token_endpoint": {probe.Failed, "connection"}},
		},
		"one for POST only": {
			answer{"GET", "/oauth/token", 404, html, page, "", ""},
			told{"token_endpoint": {probe.OK, "404"}, "token_refresh": {probe.OK, "invalid_grant"}},
		},
		"one that gives all": {
			answer{
				"POST", "/oauth/token", 200, asJSON,
				`{"access_token":"a-token-of-theirs","token_type":"bearer","patient":"p1"}`, "", "",
			},
			told{"token_refresh": {probe.Failed, "made-up"}, "token_code": {probe.Failed, "made-up"}},
		},
		"a sign-in elsewhere": {
			answer{"GET", "/oauth/authorize", 302, html, "", "https://login.hospital.example/sso?state=of-theirs", ""},
			told{"authorize": {probe.OK, "redirects to https://login.hospital.example,"}},
		},
		"a sign-in that is not there": {
			answer{"GET", "/oauth/authorize", 404, html, page, "", ""},
			told{"authorize": {probe.Failed, "404"}},
		},
		"a sign-in in trouble": {
			answer{"GET", "/oauth/authorize", 500, html, page, "", ""},
			told{"authorize": {probe.Failed, "500"}},
		},
		"a sign-in behind a firewall": {
			answer{"GET", "/oauth/authorize", 403, html, page, "", ""},
			told{"authorize": {probe.Warning, "blocks automated requests"}},
		},
		"no sign-in": {
			answer{method: "GET", suffix: "/oauth/authorize", class: safehttp.TLS},
			told{"authorize": {probe.Failed, "certificate"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.instead = test.instead
			got, text := w.run(t, probe.Subject{Endpoint: w.endpoint("", "sandbox"), Stored: true, TokenRequest: true})
			wantTold(t, name, got, test.want)
			w.wantNothingShown(t, text)
			if others := slices.DeleteFunc(w.hosts,
				func(host string) bool { return strings.Contains(w.service, host) }); len(others) > 0 {
				t.Errorf("others were asked: %v", others)
			}
			for _, hidden := range []string{
				"alder.finch", "a-token-of-theirs", "of-theirs", "\u009b",
				strings.Repeat("long-", 50),
			} {
				if strings.Contains(text, hidden) {
					t.Errorf("it is told: %q", hidden)
				}
			}
		})
	}
}

func TestRunWarnsWhenTokenEndpointRejectsGET(t *testing.T) {
	t.Parallel()
	for _, status := range []int{404, 500} {
		w := newWorld(t)
		w.instead = answer{method: "GET", suffix: "/oauth/token", status: status, mediaType: "text/html", body: page}
		got, _ := w.run(t, probe.Subject{Endpoint: w.endpoint("", "sandbox"), Stored: true})
		wantTold(t, strconv.Itoa(status), got, told{
			"token_endpoint": {probe.Warning, strconv.Itoa(status)},
			"token_refresh":  {probe.Skipped, "-token-request"},
		})
	}
}

// minimal returns a sandbox configuration without an issuer.
func minimal(challenges string) string {
	return `{"authorization_endpoint":"../oauth/authorize","token_endpoint":"../oauth/token",` +
		`"code_challenge_methods_supported":["` + challenges + `"]}`
}
