package ihe_test

import (
	"context"
	"net/netip"
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

const (
	ours     = "urn:oid:2.999.1"
	token    = "sentinel-id-token.e30.c2ln"
	identity = "sentinel-patient-id"
)

// keys returns certificates shared by all tests, because generating keys is slow.
var keys = sync.OnceValue(func() (k struct {
	gateways, clients, strangers *peer.Authority
	certificate, key             string
},
) {
	for _, to := range []**peer.Authority{&k.gateways, &k.clients, &k.strangers} {
		authority, err := peer.NewAuthority("authority")
		if err != nil {
			panic(err)
		}
		*to = authority
	}
	var err error
	if k.certificate, k.key, err = k.clients.Issue("recordbridge"); err != nil {
		panic(err)
	}
	return k
})

// maple returns a person known to all test gateways.
func maple(t *testing.T) tefca.Person {
	t.Helper()
	known, ok := people.Named("maple.aster@tefca.example")
	if !ok {
		t.Fatal("there is no such patient")
	}
	return known.Person
}

// asserted returns an identity that was verified one minute ago and remains valid for four minutes.
func asserted(t *testing.T) tefca.Assertion {
	t.Helper()
	return tefca.Assertion{
		Provider: "p", Issuer: "https://issuer.example", Subject: "s", Level: 2, Person: maple(t), Token: secret.New(token),
		IssuedAt: time.Now().Add(-time.Minute), ExpiresAt: time.Now().Add(4 * time.Minute),
	}
}

func papers() []peer.Document {
	return []peer.Document{
		{
			ID: "2.999.7.1", Repository: "2.999.8", Title: "Summary",
			Content: []byte("<ClinicalDocument>alder</ClinicalDocument>"),
		},
		{
			ID: "2.999.7.2", Repository: "2.999.8", Title: "On demand",
			Content: []byte("<ClinicalDocument>birch</ClinicalDocument>"), OnDemand: true,
		},
	}
}

func gateway(t *testing.T, home string) *peer.Peer {
	t.Helper()
	return started(t, keys().gateways, home)
}

func started(t *testing.T, issuer *peer.Authority, home string) *peer.Peer {
	t.Helper()
	p, err := peer.Start(issuer, peer.Options{
		Home: home, Knows: maple(t), Patient: identity, Clients: keys().clients, Audience: ours, Documents: papers(),
		Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// doubts records each gateway with an untrusted response and the reason for distrusting it.
type doubts struct {
	mu  sync.Mutex
	all map[string]error
}

func (d *doubts) add(_ context.Context, home string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[home] = err
}

func (d *doubts) of(home string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all[home]
}

func leads(home, to string, behind ...ihe.Community) ihe.Gateway {
	return ihe.Gateway{
		Community: ihe.Community{Home: home, Name: "Facility " + home, City: "Madison", State: "WI"},
		Discovery: to + string(peer.Discovery), Query: to + string(peer.Query), Retrieve: to + string(peer.Retrieve),
		Communities: behind,
	}
}

func configured(gateways ...ihe.Gateway) ihe.Config {
	return ihe.Config{Home: ours, Organization: "Example IAS Provider", Anchors: keys().gateways.PEM(), Gateways: gateways}
}

func network(t *testing.T, gateways ...ihe.Gateway) (*ihe.Network, *doubts) {
	t.Helper()
	heard := &doubts{all: map[string]error{}}
	n, err := ihe.New(configured(gateways...),
		ihe.Identity{Certificate: keys().certificate, Key: secret.New(keys().key)}, ihe.Deps{
			Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Now: time.Now, NewID: ids.Random, Unanswered: heard.add,
		})
	if err != nil {
		t.Fatal(err)
	}
	return n, heard
}

// located queries the network and returns each facility's last report.
func located(t *testing.T, n *ihe.Network) map[string]tefca.Facility {
	t.Helper()
	all := map[string]tefca.Facility{}
	if err := n.Locate(t.Context(), asserted(t), func(f tefca.Facility) error {
		all[f.ID] = f
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}
