package ihe

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
)

// Config lists the gateways and describes the service's identity towards them. It is part of TEFCA mode's configuration
// (docs/operate/tefca.md). Without a Config, live mode has no network.
type Config struct {
	Home         string `json:"home"`         // the service's home community ID (HCID): urn:oid:…
	Organization string `json:"organization"` // the service's name in the network's directory
	// Anchors holds the PEM certificates of the only authorities trusted for gateways. Anchors is read from the secret,
	// not from the JSON document.
	Anchors  string    `json:"-"`
	Gateways []Gateway `json:"gateways"`
}

// Gateway is a Responding Gateway (IHE ITI TF-1, 18.1 and 27.1) for either a single community or a QHIN that represents
// many communities.
type Gateway struct {
	Community

	Discovery   string      `json:"discovery"` // https URL for ITI-55
	Query       string      `json:"query"`     // URL for ITI-38
	Retrieve    string      `json:"retrieve"`  // URL for ITI-39
	Communities []Community `json:"communities,omitempty"`
}

// Community is a community whose records a gateway serves. The gateway's statements about other communities are not
// trusted.
type Community struct {
	Home  string `json:"home"` // home community ID, urn:oid:…; equals the facility's tefca_directory_id
	Name  string `json:"name"`
	City  string `json:"city"`
	State string `json:"state"` // two-letter code

	// Settings adapts requests to the community. A missing setting has the gateway's value or, failing that, the
	// default.
	Settings Settings `json:"settings,omitempty"`
}

// homeID matches home community IDs (IHE ITI TF-3, 4.2.3.2: homeCommunityId, an OID as a URN).
var homeID = regexp.MustCompile(`^urn:oid:[0-2](\.(0|[1-9][0-9]*)){2,30}$`)

// check validates the configuration and returns the communities by ID. Two gateways must not serve the same community,
// because the result would then depend on which of them responds last. The error names the invalid member but doesn't
// quote any value.
func (c Config) check() (map[string]place, error) {
	if !homeID.MatchString(c.Home) {
		return nil, errors.New("ihe: home is not a home community id")
	}
	if c.Organization == "" {
		return nil, errors.New("ihe: organization is missing")
	}
	if len(c.Gateways) == 0 {
		return nil, errors.New("ihe: no gateway is configured")
	}
	all := map[string]place{}
	for i, g := range c.Gateways {
		at := fmt.Sprintf("gateways[%d]", i)
		if err := g.checkAddresses(at); err != nil {
			return nil, err
		}
		for j, community := range append([]Community{g.Community}, g.Communities...) {
			of := at
			if j > 0 {
				of = fmt.Sprintf("%s.communities[%d]", at, j-1)
			}
			if err := community.check(of); err != nil {
				return nil, err
			}
			if _, twice := all[community.Home]; twice || community.Home == c.Home {
				return nil, fmt.Errorf("ihe: %s.home is configured twice, or is our own", of)
			}
			as := mannerOf(community.Settings, g.Settings)
			all[community.Home] = place{Community: community, gateway: g, format: as}
		}
	}
	return all, nil
}

func (c Community) check(at string) error {
	if !homeID.MatchString(c.Home) || c.Name == "" {
		return fmt.Errorf("ihe: %s.home is not a home community id, or %s.name is missing", at, at)
	}
	return c.Settings.check(at)
}

func (g Gateway) checkAddresses(at string) error {
	for _, address := range [][2]string{{"discovery", g.Discovery}, {"query", g.Query}, {"retrieve", g.Retrieve}} {
		if u, err := url.Parse(address[1]); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil ||
			u.Fragment != "" {
			return fmt.Errorf("ihe: %s.%s is not an https URL", at, address[0])
		}
	}
	return nil
}
