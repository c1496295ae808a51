// Package ihe queries a live network for records. It implements XCPD patient discovery (ITI-55) and XCA query and
// retrieve (ITI-38, ITI-39), as specified by the QHIN Technical Framework. The transactions use SOAP 1.2 with
// WS-Addressing, a signed SAML 2.0 assertion and mutual TLS. The package builds the messages, chooses recipients and
// time limits, and validates the responses.
//
// The package has been tested with a peer in this repository (infra/test/ihe) but not with a QHIN. See
// docs/develop/tefca.md, "XCPD and XCA".
package ihe

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/secret"
)

// Limits on time and concurrency.
const (
	// gatewayLimit is the time that a gateway has to respond, including a retry. The time limit is short, because a
	// person waits for the slowest gateway.
	gatewayLimit = 30 * time.Second
	// retrieveLimit is the time limit for retrieving one document, which may be large or created on demand.
	retrieveLimit = 60 * time.Second
	atOnce        = 16 // number of gateways queried concurrently
)

// Identity is the service's identity at gateways: a certificate that the network issued, used for TLS and signatures.
type Identity struct {
	Certificate string      // PEM, including intermediates
	Key         secret.Text // PEM; an RSA key, because few gateways can verify XML signatures by other keys
}

// Deps holds a Network's dependencies.
type Deps struct {
	Allow []netip.Prefix // ranges to which connections are allowed in addition to public addresses (safehttp.Options)
	Now   func() time.Time
	NewID func() string // returns a random UUID
	// Unanswered is called with the home community ID of each gateway whose response to a patient discovery is missing
	// or not trusted. For a community behind a gateway that returned a different person, home is that community's ID.
	// err never contains data about the person.
	Unanswered func(ctx context.Context, home string, err error)
}

// sender sends an HTTP request, like safehttp.Client.
type sender interface {
	Do(request *http.Request) (*http.Response, error)
}

// Network queries the configured gateways. A Network is safe for concurrent use. Callers should reuse a Network,
// because it pools connections.
type Network struct {
	deps       Deps
	config     Config
	facilities map[string]place // communities, keyed by home community ID
	signer     signer
	client     sender

	gatewayLimit, retrieveLimit time.Duration
	atOnce                      int
}

// place is a community and the gateway that serves its records.
type place struct {
	Community

	gateway Gateway
	format  requestFormat
}

var _ tefca.Network = (*Network)(nil)

// New returns a Network. An error describes the fault in the configuration and never contains a key.
func New(config Config, identity Identity, deps Deps) (*Network, error) {
	facilities, err := config.check()
	if err != nil {
		return nil, err
	}
	own, err := tls.X509KeyPair([]byte(identity.Certificate), []byte(identity.Key.Reveal()))
	if err != nil {
		return nil, errors.New("ihe: certificate and key are not PEM, or do not match")
	}
	key, isRSA := own.PrivateKey.(*rsa.PrivateKey)
	if !isRSA {
		return nil, errors.New("ihe: the key is not RSA")
	}
	anchors := x509.NewCertPool()
	if !anchors.AppendCertsFromPEM([]byte(config.Anchors)) {
		return nil, errors.New("ihe: no trust anchor that is a PEM certificate")
	}
	signs, err := newSigner(key, own)
	if err != nil {
		return nil, err
	}
	client := safehttp.New(safehttp.Options{Allow: deps.Allow, Within: retrieveLimit, Certificate: &own, Roots: anchors})
	return &Network{
		deps: deps, config: config, facilities: facilities, signer: signs, client: client,
		gatewayLimit: gatewayLimit, retrieveLimit: retrieveLimit, atOnce: atOnce,
	}, nil
}

// at returns a facility's community and gateway.
func (n *Network) at(facility tefca.Facility) (place, error) {
	found, ok := n.facilities[facility.ID]
	if !ok {
		return place{}, fmt.Errorf("ihe: no gateway leads to this facility: %w", tefca.ErrRefused)
	}
	return found, nil
}

// usable returns an error unless an assertion may be used to query a network. Querying a network requires IAL2 and
// certain demographics (RCE, SOP "Exchange Purpose Implementation: Individual Access Services" v3.0, 4.3 (a) and 4.4
// (d)).
func (n *Network) usable(who tefca.Assertion) error {
	p := who.Person
	switch {
	case who.Token.Empty() || !n.deps.Now().Before(who.ExpiresAt):
		return fmt.Errorf("ihe: the assertion has expired: %w", tefca.ErrIdentity)
	case who.Level < 2:
		return fmt.Errorf("ihe: the assertion is below IAL2: %w", tefca.ErrIdentity)
	case p.Given == "" || p.Family == "" || p.BirthDate == "" || p.Email == "" && p.Phone == "" || len(p.Addresses) == 0:
		return fmt.Errorf("ihe: no name, birth date, address or contact: %w", tefca.ErrDemographics)
	}
	if a := p.Addresses[0]; a.Street == "" || a.City == "" || a.State == "" || a.PostalCode == "" {
		return fmt.Errorf("ihe: incomplete address: %w", tefca.ErrDemographics)
	}
	return nil
}
