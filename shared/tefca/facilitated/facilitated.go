// Package facilitated is a network whose facilities answer with FHIR (docs/develop/tefca.md, "Facilitated FHIR"): each
// lets us in by UDAP with the person's verified identity, and its FHIR server is then read by the export engine. It
// owns who is asked with what, what of an answer is believed, and the tokens.Set of a facility; how UDAP is spoken
// belongs to package udap.
//
// What is standard: UDAP (HL7 Security for Scalable Registration, Authentication, and Authorization STU2). What is
// draft: the extension tefca_ias (RCE, SOP "Facilitated FHIR Implementation" 2.0, draft of February 2026), and above
// all how a facility says that it knows nobody, or several; there is no standard for it, and ours is in Locate.
// There is no standard way to ask a record locator for FHIR endpoints either (the operation $rls of networks aligned
// with CMS has no agreed shape), so that the facilities are a list in the configuration. None of it has been tried
// with a facility of others.
package facilitated

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"recordbridge/shared/export/source"
	"recordbridge/shared/fhir"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated/udap"
	"recordbridge/shared/words/secret"
)

// Config is the network as an operator configures it.
type Config struct {
	ClientURI        string   `json:"client_uri"` // a URI of the certificate; TEFCA wants it to end in #T-IAS
	ClientName       string   `json:"client_name"`
	Contacts         []string `json:"contacts"`          // URIs, one of them a mailto
	OrganizationID   string   `json:"organization_id"`   // a URI: our home community id
	OrganizationName string   `json:"organization_name"` // shown to facilities
	ConsentPolicy    []string `json:"consent_policy"`    // URIs of the policies that name the level of assurance
	Certificates     string   `json:"-"`                 // PEM, from the secret: ours, and those between it and the anchor
	Anchors          string   `json:"-"`                 // PEM, from the secret: whom the trust community trusts
	Places           []Place  `json:"facilities"`
}

// Place is a facility of the network's directory.
type Place struct {
	ID       string   `json:"id"` // an URN
	Name     string   `json:"name"`
	City     string   `json:"city"`
	State    string   `json:"state"`
	FHIRBase string   `json:"fhir_base"` // character by character as the facility's certificate has it
	Origins  []string `json:"origins"`   // of its authorization server, where that is not at the base's own
	SOP      string   `json:"sop"`       // SOP "Facilitated FHIR Implementation": 1.0 or 2.0, the default
}

// Deps are what a Network works with.
type Deps struct {
	Doer    udap.Doer
	Portals source.Portals // reads FHIR with a token, which reaches the base and nothing else
	Now     func() time.Time
	NewID   func() string
}

// Network implements tefca.FHIRNetwork. All its facilities have FHIR as their Access.
type Network struct {
	config  Config
	portals source.Portals
	client  udap.Client
	known   map[string]*facility // by id
	now     func() time.Time
}

var (
	errConfig = errors.New("facilitated: the configuration lacks what it must have")
	errPlace  = errors.New("facilitated: a facility needs an id (urn:…) of its own, a name and an address, and its " +
		"origins are such alone")
	errSOP        = errors.New("facilitated: the sop of a facility is none of 2.0, 1.0")
	errAnchors    = errors.New("facilitated: no anchor in PEM")
	errElsewhere  = fmt.Errorf("facilitated: not a facility of this network: %w", tefca.ErrRefused)
	errNoDocument = fmt.Errorf("facilitated: facilities with FHIR have no list of documents: %w", tefca.ErrRefused)
)

// New makes a Network. The key belongs to the first certificate (PKCS #8 in PEM).
func New(config Config, key secret.Text, deps Deps) (*Network, error) {
	mail := slices.ContainsFunc(config.Contacts, func(c string) bool { return strings.HasPrefix(c, "mailto:") })
	if !mail || config.ClientName == "" || !isURI(config.OrganizationID) || len(config.ConsentPolicy) == 0 ||
		!allURIs(config.ConsentPolicy) {
		return nil, errConfig
	}
	member, err := udap.NewMember(config.ClientURI, config.Certificates, key)
	if err != nil {
		return nil, err
	}
	anchors := x509.NewCertPool()
	if !anchors.AppendCertsFromPEM([]byte(config.Anchors)) {
		return nil, errAnchors
	}
	n := &Network{
		config: config, portals: deps.Portals, now: deps.Now, known: map[string]*facility{},
		client: udap.Client{Doer: deps.Doer, Member: member, Anchors: anchors, Now: deps.Now, NewID: deps.NewID},
	}
	for _, place := range config.Places {
		_, err := fhir.ParseBase(place.FHIRBase)
		if err != nil || !strings.HasPrefix(place.ID, "urn:") || place.Name == "" || n.known[place.ID] != nil ||
			!allOrigins(place.Origins) {
			return nil, errPlace
		}
		if place.SOP != "" && place.SOP != sop1 && place.SOP != sop2 {
			return nil, errSOP
		}
		n.known[place.ID] = &facility{place: place, turn: make(chan struct{}, 1)}
	}
	return n, nil
}

func allURIs(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !isURI(text) })
}

func allOrigins(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		origin, ok := udap.Origin(text)
		return !ok || origin != text
	})
}

func isURI(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.IsAbs()
}

// Documents implements tefca.Network: there are none.
func (*Network) Documents(context.Context, tefca.Assertion, tefca.Facility) ([]tefca.Document, error) {
	return nil, errNoDocument
}

// Retrieve implements tefca.Network: there are none.
func (*Network) Retrieve(context.Context, tefca.Assertion, tefca.Facility, tefca.Document, int64) ([]byte, error) {
	return nil, errNoDocument
}
