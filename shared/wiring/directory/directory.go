// Package directory wires the facilities of TEFCA networks. Functions use it to look up a facility's ID without
// querying the facility's network.
package directory

import (
	"encoding/json"
	"errors"
	"fmt"

	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/facilitated"
	"recordbridge/shared/tefca/ihe"
	"recordbridge/shared/tefca/sim"
	"recordbridge/shared/wiring/setting"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Facilities maps directory IDs to facilities, for each mode.
type Facilities map[org.Mode]map[string]tefca.Facility

// New returns the configured facilities. If the sandbox is enabled, New also returns the simulated facilities in test
// mode. Configured facilities take precedence over simulated facilities with the same ID.
func New(env setting.TEFCAEnv) (Facilities, error) {
	all := Facilities{org.Test: {}, org.Live: {}}
	if env.EnableSandbox {
		for _, f := range sim.Facilities() {
			all[org.Test][f.ID] = f
		}
	}
	networks, err := env.Networks()
	if err != nil {
		return nil, fmt.Errorf("list facilities: %w", err)
	}
	for _, n := range networks {
		listed, err := facilitiesOf(n)
		if err != nil {
			return nil, err
		}
		for _, f := range listed {
			all[n.Mode][f.ID] = f
		}
	}
	return all, nil
}

// Facility returns the facility with the given directory ID.
func (f Facilities) Facility(mode org.Mode, id string) (tefca.Facility, bool) {
	found, ok := f[mode][id]
	return found, ok
}

func facilitiesOf(n setting.Network) ([]tefca.Facility, error) {
	var gateways ihe.Config
	var servers facilitated.Config
	if json.Unmarshal(n.Config, &gateways) != nil || json.Unmarshal(n.Config, &servers) != nil {
		return nil, errors.New("a network of TEFCA_CONFIG is not of the form of docs/operate/tefca.md")
	}
	var listed []tefca.Facility
	for _, g := range gateways.Gateways {
		for _, c := range append([]ihe.Community{g.Community}, g.Communities...) {
			listed = append(listed, entry(c.Home, c.Name, c.City, c.State))
		}
	}
	for _, p := range servers.Places {
		listed = append(listed, entry(p.ID, p.Name, p.City, p.State))
	}
	return listed, nil
}

// entry returns a facility that does not match any person yet.
func entry(id, name, city, state string) tefca.Facility {
	return tefca.Facility{ID: id, Name: name, City: city, State: state, Match: "", Local: secret.Text{}, Access: ""}
}
