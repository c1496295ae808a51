package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"recordbridge/infra/local/runfile"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/starttest"
)

// browser follows redirects and stores cookies like a patient's browser. As in browsers, loopback addresses count as
// secure.
type browser struct {
	t       testing.TB
	do      func(*http.Request) (*http.Response, error)
	cookies map[string]string
	header  http.Header
}

func (o browsing) browser() *browser {
	return &browser{t: o.t, do: o.do, cookies: map[string]string{}}
}

// open follows redirects from address and submits the patient's decision at the portal. It stops at the application's
// return page or at the first response that is not a redirect.
func (b *browser) open(address, persona, decision string) (*visited, *url.URL) {
	b.t.Helper()
	for range 10 {
		target, err := url.Parse(address)
		expect.NoError(b.t, err)
		if strings.HasPrefix(target.Path, "/_local/return") {
			return nil, target
		}
		if strings.HasSuffix(target.Path, "/oauth/authorize") {
			query := target.Query()
			query.Set("persona", persona)
			query.Set("decision", decision)
			target.RawQuery = query.Encode()
		}
		answer := b.get(target)
		if answer.location() == nil {
			return answer, target
		}
		address = target.ResolveReference(answer.location()).String()
	}
	b.t.Fatal("too many redirects")
	return nil, nil
}

type visited struct {
	status int
	header http.Header
	body   []byte
}

// location returns the URL to which the redirect or the start page's script sends the browser. location returns nil if
// there is no such URL.
func (v *visited) location() *url.URL {
	address := v.header.Get("Location")
	if found := regexp.MustCompile(` data-portal="([^"]*)"`).FindSubmatch(v.body); found != nil {
		address = html.UnescapeString(string(found[1]))
	}
	target, err := url.Parse(address)
	if err != nil || address == "" {
		return nil
	}
	return target
}

// startForm is a form on one of the service's pages that starts an attempt.
type startForm struct {
	url, value string
}

// start submits a form as one of the service's pages would. The caller adds the headers that browsers set.
func (b *browser) start(form startForm) *visited {
	b.t.Helper()
	target, err := url.Parse(form.url)
	expect.NoError(b.t, err)
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, form.url,
		strings.NewReader(starttest.Body(form.value)))
	expect.NoError(b.t, err)
	r.Header = starttest.Header(target.Scheme + "://" + target.Host)
	return b.send(r)
}

// leave submits a form that starts an attempt, then follows redirects as open does.
func (b *browser) leave(form startForm, persona, decision string) (*visited, *url.URL) {
	b.t.Helper()
	answer := b.start(form)
	if answer.location() == nil {
		return answer, nil
	}
	return b.open(answer.location().String(), persona, decision)
}

func (b *browser) get(target *url.URL) *visited {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, target.String(), nil)
	expect.NoError(b.t, err)
	return b.send(r)
}

func (b *browser) send(r *http.Request) *visited {
	b.t.Helper()
	maps.Copy(r.Header, b.header)
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer, err := b.do(r)
	expect.NoError(b.t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	expect.NoError(b.t, err)
	for _, cookie := range answer.Cookies() {
		if cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
			continue
		}
		b.cookies[cookie.Name] = cookie.Value
	}
	return &visited{status: answer.StatusCode, header: answer.Header, body: body}
}

// connect connects a patient and returns the query that the application receives.
func (o browsing) connect(persona, decision string) url.Values {
	o.t.Helper()
	answer, last := o.patient.browser().open(o.patient.connectURL(), persona, decision)
	if answer != nil {
		o.t.Fatalf("the browser ended at %s with %d", last.Path, answer.status)
	}
	return last.Query()
}

func (o browsing) connectURL() string { return connectURL(o.seeded) }

func connectURL(seeded runfile.Run) string {
	test := seeded.Organisations[0]
	return seeded.BaseURL + "/bridge/connect?" + url.Values{
		"public_id": {test.PublicID}, "endpoint_id": {seeded.Sandbox.EndpointID}, "redirect_uri": {test.RedirectURI},
		"external_id": {"patient-7"}, "external_state": {"state-9"},
	}.Encode()
}

type answer struct {
	status  int
	header  http.Header
	Success bool            `json:"success"`
	Data    json.RawMessage `json:"data"`
	Error   string          `json:"error"`
	Request string          `json:"request_id"`

	Description string `json:"error_description"`

	raw []byte
}

// call sends a request with a key pair, as an organisation's backend does. If both keys are empty, the request has no
// credentials.
func (o *outside) call(method, path, publicID, privateKey string, body any) answer {
	o.t.Helper()
	header := http.Header{}
	if publicID != "" || privateKey != "" {
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(publicID+":"+privateKey)))
	}
	return o.send(method, path, header, body)
}

func (o browsing) requestAttempt(of attempt, publicID string) answer {
	o.t.Helper()
	header := http.Header{"Authorization": {"Bearer " + of.Token}}
	return o.send(http.MethodGet, "/bridge/attempts/"+url.PathEscape(of.ID)+"?public_id="+
		url.QueryEscape(publicID), header, nil)
}

func (o *outside) send(method, path string, header http.Header, body any) answer {
	o.t.Helper()
	var sent io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		expect.NoError(o.t, err)
		sent = bytes.NewReader(encoded)
		header.Set("Content-Type", "application/json")
	}
	r, err := http.NewRequestWithContext(o.t.Context(), method, o.seeded.BaseURL+path, sent)
	expect.NoError(o.t, err)
	r.Header = header
	response, err := o.do(r)
	expect.NoError(o.t, err)
	defer func() { _ = response.Body.Close() }()
	decoded := answer{status: response.StatusCode, header: response.Header}
	raw, err := io.ReadAll(response.Body)
	expect.NoError(o.t, err)
	decoded.raw = raw
	if len(raw) > 0 && strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		expect.NoError(o.t, json.Unmarshal(raw, &decoded))
	}
	return decoded
}

func (o organisation) request(method, path string, body any) answer {
	o.t.Helper()
	return o.call(method, path, o.seeded.Organisations[0].PublicID, o.seeded.Organisations[0].PrivateKey, body)
}
