package ihe

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
)

// Config says which gateways there are and who we are to them. It is part of what TEFCA mode is configured with (docs/tefca.md): without it there is no
// live network.
type Config struct {
	Home         string    `json:"home"`         // our home community id (HCID): urn:oid:…
	Organization string    `json:"organization"` // our name in the network's directory
	Anchors      string    `json:"-"`            // PEM certificates of the authorities that gateways are believed by; no others. From the secret
	Gateways     []Gateway `json:"gateways"`
}

// Gateway is a Responding Gateway (IHE ITI TF-1, 18.1 and 27.1): that of one community, or of a QHIN with many behind it.
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
}

// homeID is a home community id (IHE ITI TF-3, 4.2.3.2: homeCommunityId, an OID as an URN).
var homeID = regexp.MustCompile(`^urn:oid:[0-2](\.(0|[1-9][0-9]*)){2,30}$`)

// check gives the communities by their ids. No two gateways may answer for one: a facility would be whose word comes last.
func (c Config) check() (map[string]place, error) {
	if !homeID.MatchString(c.Home) || c.Organization == "" {
		return nil, fmt.Errorf("ihe: our own home community id %q or organisation is none", c.Home)
	}
	if len(c.Gateways) == 0 {
		return nil, errors.New("ihe: no gateway is configured")
	}
	all := map[string]place{}
	for _, g := range c.Gateways {
		for _, address := range []string{g.Discovery, g.Query, g.Retrieve} {
			if u, err := url.Parse(address); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
				return nil, fmt.Errorf("ihe: gateway %s: an address is not https", g.Home)
			}
		}
		for _, community := range append([]Community{g.Community}, g.Communities...) {
			if !homeID.MatchString(community.Home) || community.Name == "" {
				return nil, fmt.Errorf("ihe: community %q of gateway %s has no valid home community id, or no name", community.Home, g.Home)
			}
			if _, twice := all[community.Home]; twice || community.Home == c.Home {
				return nil, fmt.Errorf("ihe: community %s is configured twice, or is our own", community.Home)
			}
			all[community.Home] = place{Community: community, gateway: g}
		}
	}
	return all, nil
}
