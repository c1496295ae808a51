// Package setting reads an operator's configuration for TEFCA mode: identity providers and networks. If the sandbox is
// deployed, the settings of test mode also include the simulated provider and network. The package links no network
// implementations, because callers create the networks from the parts of the document that describe them.
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

// Names of the supported networks, as used in the configuration document and in log lines.
const (
	IHE         = "ihe"         // shared/tefca/ihe
	Facilitated = "facilitated" // shared/tefca/facilitated
)

// TEFCAEnv holds the environment variables of TEFCA mode, as set in template.yaml.
type TEFCAEnv struct {
	EnableSandbox bool   `env:"ENABLE_SANDBOX"`
	Config        string `env:"TEFCA_CONFIG"` // see docs/operate/tefca.md, "Going live"; if empty, only simulated networks
}

// config is the JSON document in TEFCA_CONFIG.
type config struct {
	Providers []identity.Provider        `json:"providers"`
	Networks  map[string]json.RawMessage `json:"networks"`
}

// Network is one configured network.
type Network struct {
	Name   string
	Mode   org.Mode // mode of the patients for whom the network is queried
	Config json.RawMessage
}

// Errors never quote the document, because a malformed document may contain any text, even a key.
var (
	errForm = errors.New("TEFCA_CONFIG is not of the form of docs/operate/tefca.md")
	errID   = errors.New("TEFCA_CONFIG: providers: id: another provider has it, or the simulated one")
	errMode = errors.New("TEFCA_CONFIG: providers: mode: it has no network")
)

// Settings returns the settings for each mode that has a network. baseURL is the service's own base URL. The simulated
// provider's URL is below baseURL. Settings returns an error for a provider that could never be selected because of its
// ID or mode, so that the operator can correct the mistake before a patient looks for the provider.
func (e TEFCAEnv) Settings(baseURL string) (map[org.Mode]attempt.Setting, error) {
	c, networks, err := e.parse()
	if err != nil {
		return nil, err
	}
	var none attempt.Setting
	settings := map[org.Mode]attempt.Setting{org.Test: none, org.Live: none}
	isAsked := map[org.Mode]bool{org.Test: e.EnableSandbox, org.Live: false}
	simulated := identity.Simulated(baseURL)
	// All modes share these names, so a name denotes the same provider in every log line and on every page.
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

// Networks returns the configured networks by name.
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
