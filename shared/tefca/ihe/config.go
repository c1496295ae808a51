package ihe

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
)

// Config says which gateways there are and who we are to them. It is part of what TEFCA mode is configured with
// (docs/operate/tefca.md): without it there is no live network.
type Config struct {
	Home         string `json:"home"`         // our home community id (HCID): urn:oid:…
	Organization string `json:"organization"` // our name in the network's directory
	// PEM certificates of the authorities that gateways are believed by; no others. From the secret
	Anchors  string    `json:"-"`
	Gateways []Gateway `json:"gateways"`
}

// Gateway is a Responding Gateway (IHE ITI TF-1, 18.1 and 27.1): that of one community, or of a
// QHIN with many behind it.
type Gateway struct {
	Community

	Discovery   string      `json:"discovery"` // where ITI-55 goes: an https address
	Query       string      `json:"query"`     // ITI-38
	Retrieve    string      `json:"retrieve"`  // ITI-39
	Communities []Community `json:"communities,omitempty"`
}

// Community is one whose records a gateway answers for. What an answer says of another one is not believed.
type Community struct {
	Home  string `json:"home"` // home community id: urn:oid:…, which is the facility's tefca_directory_id
	Name  string `json:"name"`
	City  string `json:"city"`
	State string `json:"state"` // two letters

	// Settings adapt requests to the community. A missing setting is the gateway's, or the default.
	Settings Settings `json:"settings,omitempty"`
}

// homeID is a home community id (IHE ITI TF-3, 4.2.3.2: homeCommunityId, an OID as an URN).
var homeID = regexp.MustCompile(`^urn:oid:[0-2](\.(0|[1-9][0-9]*)){2,30}$`)

// check gives the communities by their ids. No two gateways may answer for one: a facility would be whose word comes
// last. An error names the member that is wrong and quotes none.
func (c Config) check() (map[string]place, error) {
	if !homeID.MatchString(c.Home) {
		return nil, errors.New("ihe: home, our own, is no home community id")
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
			all[community.Home] = place{Community: community, gateway: g, manner: as}
		}
	}
	return all, nil
}

func (c Community) check(at string) error {
	if !homeID.MatchString(c.Home) || c.Name == "" {
		return fmt.Errorf("ihe: %s.home is no home community id, or %s.name is missing", at, at)
	}
	return c.Settings.check(at)
}

func (g Gateway) checkAddresses(at string) error {
	for _, address := range [][2]string{{"discovery", g.Discovery}, {"query", g.Query}, {"retrieve", g.Retrieve}} {
		if u, err := url.Parse(address[1]); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil ||
			u.Fragment != "" {
			return fmt.Errorf("ihe: %s.%s is no https address", at, address[0])
		}
	}
	return nil
}
