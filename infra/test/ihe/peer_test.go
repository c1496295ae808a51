package ihe_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	peer "recordbridge/infra/test/ihe"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/tefca/people"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

const home, ours = "urn:oid:2.999.2", "urn:oid:2.999.1"

// world holds a gateway, its clock and the authority that issues its clients' certificates.
type world struct {
	gateways, clients *peer.Authority
	certificate, key  string
	peer              *peer.Peer
	person            tefca.Person

	mu  sync.Mutex
	now time.Time
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{now: time.Now()}
	var err error
	for _, a := range []**peer.Authority{&w.gateways, &w.clients} {
		if *a, err = peer.NewAuthority("authority"); err != nil {
			t.Fatal(err)
		}
	}
	if w.certificate, w.key, err = w.clients.Issue("recordbridge"); err != nil {
		t.Fatal(err)
	}
	known, _ := people.Named("maple.aster@tefca.example")
	w.person = known.Person
	if w.peer, err = peer.Start(w.gateways, peer.Options{
		Home: home, Knows: w.person, Patient: "1", Clients: w.clients, Audience: ours, Documents: nil, Now: w.clock,
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.peer.Close)
	return w
}

// network returns an ihe.Network that calls the gateway as the given community, with the given certificate.
func (w *world) network(t *testing.T, as, certificate, key string) (*ihe.Network, tefca.Assertion) {
	t.Helper()
	n, err := ihe.New(ihe.Config{Home: as, Organization: "Example", Anchors: w.gateways.PEM(), Gateways: []ihe.Gateway{{
		Community: ihe.Community{Home: home, Name: "Gateway"},
		Discovery: w.peer.URL + string(peer.Discovery), Query: w.peer.URL + string(peer.Query),
		Retrieve: w.peer.URL + string(peer.Retrieve),
	}}}, ihe.Identity{Certificate: certificate, Key: secret.New(key)}, ihe.Deps{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Now: w.clock, NewID: ids.Random,
		Unanswered: func(context.Context, string, error) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, tefca.Assertion{
		Level: 2, Person: w.person, Token: secret.New("e30.e30.e30"), IssuedAt: w.clock(),
		ExpiresAt: w.clock().Add(time.Hour),
	}
}

func (w *world) located(t *testing.T, as, certificate, key string) tefca.Match {
	t.Helper()
	n, who := w.network(t, as, certificate, key)
	var match tefca.Match
	if err := n.Locate(t.Context(), who, func(f tefca.Facility) error {
		match = f.Match
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return match
}

// post sends a body to the gateway over TLS and presents the client certificate unless certificate is empty.
func (w *world) post(t *testing.T, body, certificate, key string) (status int, answer string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(w.gateways.PEM()))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	if certificate != "" {
		own, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{own}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.peer.URL+string(peer.Discovery),
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/soap+xml")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(all)
}

// TestGatewayRejectsRequestsThatQHINWouldReject checks that the test gateway verifies every part of a request. Tests
// against a gateway that accepts every request would prove nothing.
func TestGatewayRejectsRequestsThatQHINWouldReject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.located(t, ours, w.certificate, w.key); got != tefca.Found {
		t.Fatalf("the person is %q: %v", got, w.peer.Refused())
	}
	sent, _ := w.peer.Last(peer.Discovery)
	good := string(sent)
	if status, answer := w.post(t, good, w.certificate, w.key); status != http.StatusOK ||
		!strings.Contains(answer, "registrationEvent") {
		t.Fatalf("the same again: %d %s", status, answer)
	}
	cut := func(pattern string) string { return regexp.MustCompile(`(?s)`+pattern).ReplaceAllString(good, "") }
	for name, changed := range map[string]string{
		"no assertion":             cut(`<saml2:Assertion .*</saml2:Assertion>`),
		"no signature":             cut(`<ds:Signature .*?</ds:Signature>`),
		"no signed timestamp":      cut(`</saml2:Assertion><ds:Signature .*?</ds:Signature>`),
		"no timestamp":             cut(`<wsu:Timestamp .*?</wsu:Timestamp>`),
		"another timestamp":        strings.Replace(good, "<wsu:Created>20", "<wsu:Created>19", 1),
		"another purpose":          strings.Replace(good, `code="T-IAS"`, `code="T-TREAT"`, 1),
		"another role":             strings.Replace(good, `code="116154003"`, `code="1"`, 1),
		"another audience":         strings.Replace(good, `/discovery</saml2:Audience>`, `/other</saml2:Audience>`, 1),
		"another id_token":         strings.Replace(good, `e30.e30.e30`, `e30.e30.e31`, 1),
		"a longer validity":        regexp.MustCompile(`NotOnOrAfter="20`).ReplaceAllString(good, `NotOnOrAfter="21`),
		"another community":        strings.Replace(good, `>`+ours+`<`, `>urn:oid:2.999.5<`, 1),
		"another signature's text": strings.Replace(good, "rsa-sha256", "rsa-sha1", 1),
		"no message":               "hello",
		"another envelope": strings.ReplaceAll(good, "http://www.w3.org/2003/05/soap-envelope",
			"http://schemas.xmlsoap.org/soap/envelope/"),
	} {
		if changed == good {
			t.Fatalf("%s: nothing was changed", name)
		}
		before := len(w.peer.Refused())
		if status, answer := w.post(t, changed, w.certificate, w.key); status != http.StatusInternalServerError ||
			!strings.Contains(answer, "FailedAuthentication") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		if len(w.peer.Refused()) != before+1 {
			t.Errorf("%s: the gateway does not say why", name)
		}
	}
}

func TestGatewayRequiresClientCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.located(t, ours, w.certificate, w.key); got != tefca.Found {
		t.Fatalf("the person is %q: %v", got, w.peer.Refused())
	}
	sent, _ := w.peer.Last(peer.Discovery)
	before := w.peer.Seen(peer.Discovery)
	if status, _ := w.post(t, string(sent), "", ""); status != 0 {
		t.Errorf("without a certificate: %d", status)
	}
	other, otherKey, err := w.gateways.Issue("of another authority")
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := w.post(t, string(sent), other, otherKey); status != 0 {
		t.Errorf("with a certificate of another authority: %d", status)
	}
	if w.peer.Seen(peer.Discovery) != before {
		t.Error("the gateway read what it was sent")
	}
	// The gateway trusts the second certificate, but the assertion names the first.
	second, secondKey, err := w.clients.Issue("another of the network")
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := w.post(t, string(sent), second, secondKey); status != http.StatusInternalServerError {
		t.Errorf("with another's assertion: %d", status)
	}
	if got := w.located(t, "urn:oid:2.999.5", w.certificate, w.key); got != tefca.Unanswered {
		t.Errorf("as another community: %q", got)
	}
}

// TestSignedMessageExpiresWithinMinutes replays a signed message. The gateway must accept the message four minutes
// after signing, but reject it six minutes after and three minutes before signing.
func TestSignedMessageExpiresWithinMinutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.located(t, ours, w.certificate, w.key); got != tefca.Found {
		t.Fatalf("the person is %q: %v", got, w.peer.Refused())
	}
	sent, _ := w.peer.Last(peer.Discovery)
	for _, test := range []struct {
		later  time.Duration
		status int
	}{
		{4 * time.Minute, http.StatusOK},
		{2 * time.Minute, http.StatusInternalServerError},
		{-9 * time.Minute, http.StatusInternalServerError},
	} {
		w.pass(test.later)
		if status, _ := w.post(t, string(sent), w.certificate, w.key); status != test.status {
			t.Errorf("%s later: %d", test.later, status)
		}
	}
}

// TestSignedMessageExpiresWithItsIDToken checks that a signed message expires no later than its id_token.
func TestSignedMessageExpiresWithItsIDToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n, who := w.network(t, ours, w.certificate, w.key)
	who.ExpiresAt = w.clock().Add(time.Minute)
	if err := n.Locate(t.Context(), who, func(tefca.Facility) error { return nil }); err != nil {
		t.Fatal(err)
	}
	sent, _ := w.peer.Last(peer.Discovery)
	if status, _ := w.post(t, string(sent), w.certificate, w.key); status != http.StatusOK {
		t.Errorf("in time: %d, %v", status, w.peer.Refused())
	}
	w.pass(time.Minute)
	if status, _ := w.post(t, string(sent), w.certificate, w.key); status != http.StatusInternalServerError {
		t.Errorf("a minute later: %d", status)
	}
}

// TestRequestsContainOnlyTokenAndVerifiedDemographics checks that all three requests contain the id_token unmodified.
// The request bodies must contain no personal data other than the verified demographics.
func TestRequestsContainOnlyTokenAndVerifiedDemographics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n, who := w.network(t, ours, w.certificate, w.key)
	var found tefca.Facility
	who.Person.Phone, who.Person.Middle = "+16085550100", "Rose & <Thorn>"
	who.Person.Addresses = append(who.Person.Addresses,
		tefca.Address{Street: "2 Former\r\nStreet", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"})
	if err := n.Locate(t.Context(), who, func(f tefca.Facility) error {
		found = f
		return nil
	}); err != nil || found.Match != tefca.Found {
		t.Fatalf("%q, %v, %v", found.Match, err, w.peer.Refused())
	}
	if _, err := n.Documents(t.Context(), who, found); err != nil {
		t.Fatal(err)
	}
	listed := tefca.Document{ID: "9", Locator: secret.New(`{"home":"` + home +
		`","patient":"1^^^&2.999.2&ISO","repository":"2.999.8","document":"9"}`)}
	if _, err := n.Retrieve(t.Context(), who, found, listed, 10); err == nil {
		t.Error("a document that there is not was read")
	}
	for _, transaction := range []peer.Transaction{peer.Discovery, peer.Query, peer.Retrieve} {
		body, _ := w.peer.Last(transaction)
		if bytes.Count(body, []byte("e30.e30.e30")) != 1 {
			t.Errorf("%s: no id_token", transaction)
		}
	}
	body, _ := w.peer.Last(peer.Discovery)
	_, asked, _ := strings.Cut(string(body), "<parameterList>")
	for _, want := range []string{
		`value="19840312"`, `<family>Aster</family><given>Maple</given><given>Rose &amp; &lt;Thorn&gt;</given>`,
		`<city>Madison</city>`, `2 Former Street`, `<city>Austin</city>`,
		`value="tel:+16085550100"`, `value="mailto:maple.aster@tefca.example"`, `code="F"`,
	} {
		if !strings.Contains(asked, want) {
			t.Errorf("not told: %s", want)
		}
	}
	if _, media := w.peer.Last(peer.Retrieve); !strings.HasPrefix(media, "multipart/related") ||
		!strings.Contains(media, "application/xop+xml") {
		t.Errorf("a retrieval is sent as %s", media)
	}
}
