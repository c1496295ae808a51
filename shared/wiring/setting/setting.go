// Package setting reads what an operator has set up of TEFCA mode: the identity providers and networks of the
// configuration, and in test mode the simulated ones where the sandbox is deployed. It links no network: who asks one
// makes it of its part of the document.
package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"recordbridge/shared/tefca/attempt"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// The networks that can be configured, as the document and log lines name them.
const (
	IHE         = "ihe"         // shared/tefca/ihe
	Facilitated = "facilitated" // shared/tefca/facilitated
)

// TEFCAEnv is what such a function reads of template.yaml.
type TEFCAEnv struct {
	EnableSandbox bool   `env:"ENABLE_SANDBOX"`
	Config        string `env:"TEFCA_CONFIG"` // docs/operate/tefca.md, "Going live"; empty: nothing but what is simulated
}

// config is the document of TEFCA_CONFIG.
type config struct {
	Providers []identity.Provider        `json:"providers"`
	Networks  map[string]json.RawMessage `json:"networks"`
}

// Network is one of the configuration.
type Network struct {
	Name   string
	Mode   org.Mode // whose patients it is asked about
	Config json.RawMessage
}

// The errors quote nothing: what is not of the form may be anything, also a key.
var (
	errForm = errors.New("TEFCA_CONFIG is not of the form of docs/operate/tefca.md")
	errID   = errors.New("TEFCA_CONFIG: providers: id: another provider has it, or the simulated one")
	errMode = errors.New("TEFCA_CONFIG: providers: mode: it has no network")
)

// Settings are those of the modes that have a network. baseURL is our own, which the simulated provider is behind. A
// provider that could not be chosen, for its id or its mode, is an error: nobody would miss it until a patient does.
func (e TEFCAEnv) Settings(baseURL string) (map[org.Mode]attempt.Setting, error) {
	c, networks, err := e.parse()
	if err != nil {
		return nil, err
	}
	var none attempt.Setting
	settings := map[org.Mode]attempt.Setting{org.Test: none, org.Live: none}
	isAsked := map[org.Mode]bool{org.Test: e.EnableSandbox, org.Live: false}
	simulated := identity.Simulated(baseURL)
	// everywhere: one name is one provider, wherever a log line or a page has it
	taken := map[string]bool{simulated.ID: true}
	if e.EnableSandbox {
		settings[org.Test] = attempt.Setting{Providers: []identity.Provider{simulated}, Simulated: true}
	}
	for _, n := range networks {
		setting := settings[n.Mode]
		setting.Simulated, isAsked[n.Mode] = false, true
		settings[n.Mode] = setting
	}
	for _, p := range c.Providers {
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("TEFCA_CONFIG: providers: %s: %w", fault.Of(err).Field, err)
		}
		switch {
		case taken[p.ID]:
			return nil, errID
		case !isAsked[p.Mode]:
			return nil, errMode
		}
		setting := settings[p.Mode]
		setting.Providers = append(setting.Providers, p)
		settings[p.Mode], taken[p.ID] = setting, true
	}
	return settings, nil
}

// Networks are those of the configuration, by name.
func (e TEFCAEnv) Networks() ([]Network, error) {
	_, networks, err := e.parse()
	return networks, err
}

func (e TEFCAEnv) parse() (config, []Network, error) {
	var c config
	if e.Config != "" && json.Unmarshal([]byte(e.Config), &c) != nil {
		return config{}, nil, errForm
	}
	var networks []Network
	for _, name := range slices.Sorted(maps.Keys(c.Networks)) {
		of := struct {
			Mode org.Mode `json:"mode"`
		}{Mode: org.Live}
		err := json.Unmarshal(c.Networks[name], &of)
		if err != nil || (name != IHE && name != Facilitated) || (of.Mode != org.Live && of.Mode != org.Test) {
			return config{}, nil, errForm
		}
		networks = append(networks, Network{Name: name, Mode: of.Mode, Config: c.Networks[name]})
	}
	return c, networks, nil
}
