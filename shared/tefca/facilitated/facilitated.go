// Package facilitated implements a network of facilities with FHIR servers (docs/develop/tefca.md, "Facilitated FHIR").
// Each facility authorises the service through UDAP with the person's verified identity. The export engine then reads
// the facility's FHIR server. Package udap implements UDAP.
//
// UDAP is specified by a standard (HL7 Security for Scalable Registration, Authentication, and Authorization STU2). The
// extension tefca_ias is a draft (RCE, SOP "Facilitated FHIR Implementation" 2.0, draft of February 2026). No standard
// defines how a facility reports no match or several matches. Locate's documentation describes this package's
// interpretation. The configuration lists the facilities, because no standard exists for finding FHIR endpoints with a
// record locator. There is no agreed format for the $rls operation of CMS-aligned networks. The package has not been
// tested with a real facility.
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

// Config is the operator's configuration of the network.
type Config struct {
	ClientURI        string   `json:"client_uri"` // URI contained in the certificate; for TEFCA, the URI ends in #T-IAS
	ClientName       string   `json:"client_name"`
	Contacts         []string `json:"contacts"`          // URIs, including a mailto URI
	OrganizationID   string   `json:"organization_id"`   // the service's home community ID, as a URI
	OrganizationName string   `json:"organization_name"` // displayed to facilities
	ConsentPolicy    []string `json:"consent_policy"`    // URIs of policies that define the assurance level
	Certificates     string   `json:"-"`                 // PEM, including intermediates; read from the secret
	Anchors          string   `json:"-"`                 // PEM; read from the secret
	Places           []Place  `json:"facilities"`
}

// Place is a facility listed in the network's directory.
type Place struct {
	ID       string   `json:"id"` // URN that identifies the facility in the directory
	Name     string   `json:"name"`
	City     string   `json:"city"`
	State    string   `json:"state"`
	FHIRBase string   `json:"fhir_base"` // base URL, spelled exactly as in the facility's certificate
	Origins  []string `json:"origins"`   // origins of the authorization server, if different from the base URL's
	SOP      string   `json:"sop"`       // version of the SOP "Facilitated FHIR Implementation": 1.0 or 2.0 (default)
}

// Deps holds a Network's dependencies.
type Deps struct {
	Doer    udap.Doer
	Portals source.Portals // reads FHIR resources with a token, from the base URL only
	Now     func() time.Time
	NewID   func() string
}

// Network implements tefca.FHIRNetwork. All of its facilities have FHIR access.
type Network struct {
	config  Config
	portals source.Portals
	client  udap.Client
	known   map[string]*facility // facilities, keyed by facility ID
	now     func() time.Time
}

var (
	errConfig = errors.New("facilitated: a required setting is missing")
	errPlace  = errors.New("facilitated: a facility needs a unique id (urn:…), a name and a URL, and its origins " +
		"must be origins")
	errSOP        = errors.New("facilitated: the sop of a facility is none of 2.0, 1.0")
	errAnchors    = errors.New("facilitated: no anchor in PEM")
	errElsewhere  = fmt.Errorf("facilitated: not a facility of this network: %w", tefca.ErrRefused)
	errNoDocument = fmt.Errorf("facilitated: facilities with FHIR have no list of documents: %w", tefca.ErrRefused)
)

// New returns a Network. key is the private key of the first certificate, as PKCS #8 in PEM.
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

// Documents implements tefca.Network. It always returns an empty list.
func (*Network) Documents(context.Context, tefca.Assertion, tefca.Facility) ([]tefca.Document, error) {
	return nil, errNoDocument
}

// Retrieve implements tefca.Network. It always returns an error, because a FHIR network provides no documents.
func (*Network) Retrieve(context.Context, tefca.Assertion, tefca.Facility, tefca.Document, int64) ([]byte, error) {
	return nil, errNoDocument
}
