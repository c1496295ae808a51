// Package ihe asks a live network for records: XCPD patient discovery (ITI-55) and XCA query and retrieve (ITI-38,
// ITI-39) over SOAP 1.2 with WS-Addressing, a signed SAML 2.0 assertion and mutual TLS, as the QHIN Technical
// Framework has it. It owns the messages, who is asked with which words, how long, and what of an answer is
// believed. It stores nothing.
//
// It has been tested against a peer of this repository (infra/test/ihe) and against no QHIN: docs/develop/tefca.md,
// "XCPD and XCA".
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

// How long and how many are asked.
const (
	// gatewayLimit is how long a gateway may take for an answer, with the second try. A person waits for the slowest.
	gatewayLimit = 30 * time.Second
	// retrieveLimit is that of a document, which may be large or made for us (on demand).
	retrieveLimit = 60 * time.Second
	atOnce        = 16 // gateways that are asked side by side
)

// Identity is who we are to gateways: the certificate that the network has issued, for TLS and for signatures.
type Identity struct {
	Certificate string      // PEM, with the intermediate ones
	Key         secret.Text // PEM; RSA, since XML signatures of other keys are hardly ever verified
}

// Deps are what a Network works with.
type Deps struct {
	Allow []netip.Prefix // ranges that may be reached besides public addresses (safehttp.Options)
	Now   func() time.Time
	NewID func() string // a random UUID
	// Unanswered is told of each gateway that has not answered a discovery, or not so that it can be believed, by
	// its home community id; where a community behind it has named another person, by that community's. The error
	// tells nothing of the person.
	Unanswered func(ctx context.Context, home string, err error)
}

// sender sends a request, as safehttp.Client does.
type sender interface {
	Do(request *http.Request) (*http.Response, error)
}

// Network asks the gateways of a configuration. It is safe for concurrent use. Keep it: it pools connections.
type Network struct {
	deps       Deps
	config     Config
	facilities map[string]place // by home community id
	signer     signer
	client     sender

	gatewayLimit, retrieveLimit time.Duration
	atOnce                      int
}

// place is where the records of a community are asked for.
type place struct {
	Community

	gateway Gateway
	manner  manner
}

var _ tefca.Network = (*Network)(nil)

// New makes a Network. The error tells what is wrong with the configuration, never a key.
func New(config Config, identity Identity, deps Deps) (*Network, error) {
	facilities, err := config.check()
	if err != nil {
		return nil, err
	}
	own, err := tls.X509KeyPair([]byte(identity.Certificate), []byte(identity.Key.Reveal()))
	if err != nil {
		return nil, errors.New("ihe: certificate and key are no PEM, or do not belong to each other")
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

// at finds the place of a facility.
func (n *Network) at(facility tefca.Facility) (place, error) {
	found, ok := n.facilities[facility.ID]
	if !ok {
		return place{}, fmt.Errorf("ihe: no gateway leads to this facility: %w", tefca.ErrRefused)
	}
	return found, nil
}

// usable tells whether a network may be asked with an assertion (RCE, SOP "Exchange Purpose Implementation: Individual
// Access Services" v3.0, 4.3 (a) and 4.4 (d): IAL2, and the demographics without which a query is not valid).
func (n *Network) usable(who tefca.Assertion) error {
	p := who.Person
	switch {
	case who.Token.Empty() || !n.deps.Now().Before(who.ExpiresAt):
		return fmt.Errorf("ihe: the assertion has ended: %w", tefca.ErrIdentity)
	case who.Level < 2:
		return fmt.Errorf("ihe: the assertion is below IAL2: %w", tefca.ErrIdentity)
	case p.Given == "" || p.Family == "" || p.BirthDate == "" || p.Email == "" && p.Phone == "" || len(p.Addresses) == 0:
		return fmt.Errorf("ihe: no name, birth date, address or contact: %w", tefca.ErrDemographics)
	}
	if a := p.Addresses[0]; a.Street == "" || a.City == "" || a.State == "" || a.PostalCode == "" {
		return fmt.Errorf("ihe: no whole address: %w", tefca.ErrDemographics)
	}
	return nil
}
