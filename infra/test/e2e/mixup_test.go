package e2e_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"recordbridge/infra/sandbox"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

const (
	honestHost   = "http://127.0.0.7" // the sandbox in the role of a hospital with a separate origin
	hostileHost  = "http://127.0.0.66"
	honestIssuer = honestHost + "/v1/sandbox"
	honestBase   = honestIssuer + "/fhir"
	hostileBase  = hostileHost + "/fhir"

	hostileElsewhere = "http://127.0.0.67"
)

// mixup is a stack with an honest and a hostile hospital (RFC 9700 section 4.4). The honest hospital sends iss and
// requires S256.
type mixup struct {
	*stack

	honest, hostile string // endpoint IDs

	mu        sync.Mutex
	discovery map[string]any // the hostile portal's discovery document
	silent    string         // URL of the legitimate portal; set only if that portal omits iss
	// redirect URI used at the honest portal; empty if both portals share one
	callback  string
	challenge string                       // replaces the service's code challenge; empty for no change
	got       []string                     // secrets that the hostile portal received
	redeem    func(form url.Values) []byte // the hostile token endpoint's response; nil to reject requests
	// whether the honest portal's discovery document names the hostile token endpoint
	moved bool
}

// ownDiscovery returns the discovery document that the hostile portal served before it became hostile.
func ownDiscovery() map[string]any {
	return map[string]any{
		"authorization_endpoint": hostileHost + "/authorize", "token_endpoint": hostileHost + "/token",
		"code_challenge_methods_supported": []string{"S256"},
	}
}

func newMixup(t *testing.T) *mixup {
	t.Helper()
	m := &mixup{stack: newStack(t, options{}), discovery: ownDiscovery(), honest: ids.Random(), hostile: ids.Random()}
	m.intercept = func(r *http.Request) *http.Response {
		switch "http://" + r.URL.Host {
		case honestHost:
			return m.asSandbox(r)
		case hostileHost, hostileElsewhere:
			return m.asHostile(r)
		}
		return nil
	}
	return m
}

func (m *mixup) enroll(id, base string, pins catalog.Pins, r catalog.Registration) {
	m.t.Helper()
	expect.NoError(m.t, m.operator.Endpoints.Add(m.t.Context(), catalog.Endpoint{
		ID: id, BrandID: ids.Random(), PortalID: ids.Random(), Name: "Hazel Hospital", FHIRBase: base,
		PlatformType: "sandbox",
		FHIRVersion:  "4.0.1", Mode: string(org.Test), Pins: pins,
	}, r))
}

func (m *mixup) connectURLTo(endpointID string) string {
	at := m.seeded
	at.Sandbox.EndpointID = endpointID
	return connectURL(at)
}

// asSandbox serves the sandbox under the honest hospital's origin.
func (m *mixup) asSandbox(r *http.Request) *http.Response {
	if m.moved && strings.HasSuffix(r.URL.Path, "/oauth/token") {
		return hostileAnswer(r, http.StatusNotFound, nil)
	}
	sent, err := io.ReadAll(orEmpty(r.Body))
	expect.NoError(m.t, err)
	in, out := replacing(honestHost, host), replacing(host, honestHost)
	forwarded, err := http.NewRequestWithContext(r.Context(), r.Method, in.Replace(r.URL.String()),
		strings.NewReader(in.Replace(string(sent))))
	expect.NoError(m.t, err)
	forwarded.Header = r.Header.Clone()
	answer, err := m.Do(forwarded)
	if r.Context().Err() != nil { // without a token, the concurrent CapabilityStatement request is cancelled
		return hostileAnswer(r, http.StatusServiceUnavailable, nil)
	}
	expect.NoError(m.t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	expect.NoError(m.t, err)
	answer.Header.Del("Content-Length")
	if location := answer.Header.Get("Location"); location != "" {
		answer.Header.Set("Location", out.Replace(location))
	}
	said := out.Replace(string(body))
	if m.moved && strings.HasSuffix(r.URL.Path, "/.well-known/smart-configuration") {
		said = strings.ReplaceAll(said, honestIssuer+"/oauth/token", hostileHost+"/token")
	}
	answer.Body, answer.Request = io.NopCloser(strings.NewReader(said)), r
	return answer
}

// replacing returns a replacer that changes the host in the sandbox's URLs, including URLs in query strings.
func replacing(from, to string) *strings.Replacer {
	const mount = "/v1/sandbox"
	return strings.NewReplacer(from+mount, to+mount, url.QueryEscape(from+mount), url.QueryEscape(to+mount))
}

// asHostile responds as the hostile portal and records the secrets sent to it.
func (m *mixup) asHostile(r *http.Request) *http.Response {
	sent, err := io.ReadAll(orEmpty(r.Body))
	expect.NoError(m.t, err)
	form, _ := url.ParseQuery(string(sent))
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range []string{"code", "code_verifier", "client_secret", "client_assertion", "refresh_token", "token"} {
		if form.Has(name) {
			m.got = append(m.got, name)
		}
	}
	if scheme, _, found := strings.Cut(r.Header.Get("Authorization"), " "); found {
		m.got = append(m.got, scheme)
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/.well-known/smart-configuration"):
		document, err := json.Marshal(m.discovery)
		expect.NoError(m.t, err)
		return hostileAnswer(r, http.StatusOK, document)
	case r.URL.Path == "/authorize":
		answer := hostileAnswer(r, http.StatusFound, nil)
		answer.Header.Set("Location", m.toHonest(r.URL.Query()))
		return answer
	case r.URL.Path == "/token" && m.redeem != nil:
		return hostileAnswer(r, http.StatusOK, m.redeem(form))
	}
	return hostileAnswer(r, http.StatusBadRequest, []byte(`{"error":"invalid_grant"}`))
}

// toHonest returns the URL of the honest portal's sign-in page with the attacked attempt's state. The attacker
// redirects the victim to the returned URL.
func (m *mixup) toHonest(ours url.Values) string {
	query := maps.Clone(ours)
	query.Set("client_id", sandbox.DefaultClientID)
	at := cmp.Or(m.silent, honestIssuer)
	query.Set("aud", at+"/fhir")
	if m.callback != "" {
		query.Set("redirect_uri", m.callback)
	}
	if m.challenge != "" {
		query.Set("code_challenge", m.challenge)
	}
	return at + "/oauth/authorize?" + query.Encode()
}

func hostileAnswer(r *http.Request, status int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}
}

// checkHarmless checks that the hostile portal received no secrets of the service or the patient, and that no
// connection to it exists.
func (m *mixup) checkHarmless(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.got) > 0 {
		t.Errorf("the hostile portal was shown %q", slices.Compact(slices.Sorted(slices.Values(m.got))))
	}
	if got := m.org.countConnections(); got != 0 {
		t.Errorf("there are %d connections", got)
	}
}

// withoutCode removes codes that the portal or the attacker invented.
func withoutCode(got []string) []string {
	return slices.DeleteFunc(got, func(one string) bool { return one == "code" || one == "code_verifier" })
}
