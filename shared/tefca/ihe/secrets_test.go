package ihe_test

import (
	"encoding/pem"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	peer "recordbridge/infra/test/ihe"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/secret"
)

// leak returns any data in text about the person, the token or the key.
func leak(t *testing.T, text string) string {
	t.Helper()
	p := maple(t)
	key, _ := pem.Decode([]byte(keys().key))
	for _, word := range []string{
		token, identity, p.Given, p.Family, p.BirthDate, strings.ReplaceAll(p.BirthDate, "-", ""), p.Email,
		p.Addresses[0].Street, "quoted", "<",
		string(key.Bytes[:16]), "PRIVATE", "2.999.7.1",
	} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
			return word
		}
	}
	return ""
}

// TestErrorsOmitMessageContents covers every step that can fail and every text that a gateway might quote.
func TestErrorsOmitMessageContents(t *testing.T) {
	t.Parallel()
	p := gateway(t, home)
	n, heard := network(t, leads(home, p.URL))
	found := located(t, n)[home]
	documents, err := n.Documents(t.Context(), asserted(t), found)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	judge := func(what string, err error) {
		if err == nil {
			return
		}
		count++
		if word := leak(t, fmt.Sprintf("%+v", err)); word != "" {
			t.Errorf("%s: %q tells %q", what, err, word)
		}
	}
	for _, s := range []peer.Switch{
		peer.Ambiguous, peer.Denied, peer.Mixed, peer.Cut, peer.Failing, peer.Fault, peer.Partial, peer.Slow, peer.Malformed,
		peer.Unrelated, peer.Foreign, peer.OtherPerson, peer.OtherThing,
		peer.Twice, peer.Large, peer.Missing, peer.AlwaysBusy,
	} {
		for _, transaction := range []peer.Transaction{peer.Discovery, peer.Query, peer.Retrieve} {
			p.Switch(transaction, s)
		}
		n.Limits(30*time.Second, 1)
		if s == peer.Slow {
			n.Limits(time.Second, 1)
		}
		heard.add(t.Context(), home, nil)
		_ = located(t, n)
		judge(string(s)+" discovery", heard.of(home))
		_, err = n.Documents(t.Context(), asserted(t), found)
		judge(string(s)+" list", err)
		_, err = n.Retrieve(t.Context(), asserted(t), found, documents[0], 1000)
		judge(string(s)+" retrieval", err)
	}
	at := found
	at.ID = "urn:oid:2.999.3"
	_, err = n.Documents(t.Context(), asserted(t), at)
	judge("another facility", err)
	ended := asserted(t)
	ended.ExpiresAt = time.Time{}
	judge("an ended assertion", n.Locate(t.Context(), ended, nil))
	if count < 25 {
		t.Errorf("only %d errors were judged", count)
	}
	if word := leak(t, fmt.Sprintf("%v %+v %v", n, found.Local, documents[0].Locator)); word == token || word == identity {
		t.Errorf("printing tells %q", word)
	}
}

// quoted returns a configuration value contained in text, or "" if there is none.
func quoted(text string, of reflect.Value) string {
	switch {
	case of.Kind() == reflect.String && len(of.String()) > 1 && strings.Contains(text, of.String()):
		return of.String()
	case of.Kind() == reflect.Struct:
		for _, member := range of.Fields() {
			if value := quoted(text, member); value != "" {
				return value
			}
		}
	case of.Kind() == reflect.Slice:
		for i := range of.Len() {
			if value := quoted(text, of.Index(i)); value != "" {
				return value
			}
		}
	}
	return ""
}

func TestNewRejectsInvalidConfiguration(t *testing.T) {
	t.Parallel()
	good := func() ihe.Config { return configured(leads(home, "https://gateway.example")) }
	_, other, err := keys().clients.Issue("another")
	if err != nil {
		t.Fatal(err)
	}
	own := ihe.Identity{Certificate: keys().certificate, Key: secret.New(keys().key)}
	deps := ihe.Deps{Allow: []netip.Prefix{}, Now: time.Now, NewID: ids.Random, Unanswered: nil}
	for name, test := range map[string]struct {
		spoil    func(*ihe.Config)
		identity ihe.Identity
	}{
		"no home":                  {func(c *ihe.Config) { c.Home = "" }, own},
		"a home that is no URN":    {func(c *ihe.Config) { c.Home = "2.999.1" }, own},
		"no organisation":          {func(c *ihe.Config) { c.Organization = "" }, own},
		"no gateway":               {func(c *ihe.Config) { c.Gateways = nil }, own},
		"an anchor that is none":   {func(c *ihe.Config) { c.Anchors = "x" }, own},
		"no anchors":               {func(c *ihe.Config) { c.Anchors = "" }, own},
		"a gateway without a home": {func(c *ihe.Config) { c.Gateways[0].Home = "" }, own},
		"a gateway without a name": {func(c *ihe.Config) { c.Gateways[0].Name = "" }, own},
		"our own community":        {func(c *ihe.Config) { c.Gateways[0].Home = ours }, own},
		"one community twice":      {func(c *ihe.Config) { c.Gateways = append(c.Gateways, c.Gateways[0]) }, own},
		"a community without a home": {func(c *ihe.Config) {
			c.Gateways[0].Communities = []ihe.Community{{
				Home: "SENTINEL",
				Name: "SENTINEL",
			}}
		}, own},
		"one behind two": {func(c *ihe.Config) {
			c.Gateways[0].Communities = []ihe.Community{c.Gateways[0].Community}
		}, own},
		"discovery without TLS":  {func(c *ihe.Config) { c.Gateways[0].Discovery = "http://gateway.example/" }, own},
		"no address for queries": {func(c *ihe.Config) { c.Gateways[0].Query = "" }, own},
		"an address with a password": {
			func(c *ihe.Config) { c.Gateways[0].Retrieve = "https://a:b@gateway.example/" },
			own,
		},
		"another's key": {
			func(*ihe.Config) {},
			ihe.Identity{Certificate: keys().certificate, Key: secret.New(other)},
		},
		"no key":                       {func(*ihe.Config) {}, ihe.Identity{Certificate: keys().certificate}},
		"a certificate that is no PEM": {func(*ihe.Config) {}, ihe.Identity{Certificate: "x", Key: secret.New(keys().key)}},
	} {
		c := good()
		test.spoil(&c)
		n, err := ihe.New(c, test.identity, deps)
		if err == nil || n != nil {
			t.Errorf("%s was taken", name)
		} else if word := leak(t, err.Error()); word != "" {
			t.Errorf("%s: the error tells %q", name, word)
		} else if value := quoted(err.Error(), reflect.ValueOf(c)); value != "" {
			t.Errorf("%s: the error quotes %q", name, value)
		}
	}
	if _, err := ihe.New(good(), own, deps); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

// TestLocateBlocksGatewayAtForbiddenAddress checks that the network sends no data to a forbidden IP address, even if
// that address is configured.
func TestLocateBlocksGatewayAtForbiddenAddress(t *testing.T) {
	t.Parallel()
	p := gateway(t, home)
	heard := &doubts{all: map[string]error{}}
	n, err := ihe.New(configured(leads(home, p.URL)),
		ihe.Identity{Certificate: keys().certificate, Key: secret.New(keys().key)}, ihe.Deps{
			Allow: nil, Now: time.Now, NewID: ids.Random, Unanswered: heard.add,
		})
	if err != nil {
		t.Fatal(err)
	}
	if f := located(t, n)[home]; f.Match != tefca.Unanswered || p.Seen(peer.Discovery) > 0 ||
		!strings.Contains(heard.of(home).Error(), "blocked_address") {
		t.Errorf("%+v, %v", f, heard.of(home))
	}
}
