package setting_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/wiring/setting"
	"recordbridge/shared/words/org"
)

const (
	own = `{"id":"own","name":"Own","mode":"live","issuer":"https://id.example","client_id":"c",` +
		`"audiences":["c"],"scope":"openid"}`
	forTest = `{"id":"tests","name":"Tests","mode":"test","issuer":"https://id.example","client_id":"c",` +
		`"audiences":["c"],"scope":"openid"}`
)

func env(withSandbox bool, config string) setting.TEFCAEnv {
	return setting.TEFCAEnv{EnableSandbox: withSandbox, Config: config}
}

// TestSettingsIncludeModesWithProviderAndNetwork checks that a mode is included only if it has a provider and a
// network, and that it counts as simulated only if all its networks are simulated.
func TestSettingsIncludeModesWithProviderAndNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  setting.TEFCAEnv
		want string // providers in test and live mode; "!" marks a fully simulated mode
	}{
		"nothing":                   {env(false, ""), "/"},
		"the sandbox":               {env(true, ""), "simulated!/"},
		"a provider of the sandbox": {env(true, `{"providers":[`+forTest+`]}`), "simulated,tests!/"},
		"one of each mode": {
			env(true, `{"providers":[`+own+`,`+forTest+`],"networks":{"ihe":{}}}`),
			"simulated,tests!/own",
		},
		"a network alone":    {env(false, `{"networks":{"ihe":{}}}`), "/"},
		"both, in live mode": {env(true, `{"providers":[`+own+`],"networks":{"ihe":{}}}`), "simulated!/own"},
		"FHIR, in live mode": {env(false,
			`{"providers":[`+own+`],"networks":{"facilitated":{"mode":"live"}}}`), "/own"},
		"a network of test mode": {env(false,
			`{"providers":[`+forTest+`],"networks":{"ihe":{"mode":"test"}}}`), "tests/"},
		"beside the simulated there": {env(true, `{"networks":{"ihe":{"mode":"test"}}}`), "simulated/"},
	} {
		settings, err := c.env.Settings("https://us.example")
		got := make([]string, 0, 2)
		for _, mode := range []org.Mode{org.Test, org.Live} {
			ids := make([]string, 0, len(settings[mode].Providers))
			for _, p := range settings[mode].Providers {
				ids = append(ids, p.ID)
			}
			text := strings.Join(ids, ",")
			if settings[mode].Simulated {
				text += "!"
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "/")); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestNetworksAreListedByName(t *testing.T) {
	t.Parallel()
	networks, err := env(false, `{"networks":{"ihe":{"mode":"test","home":"h"},"facilitated":{}}}`).Networks()
	if err != nil || len(networks) != 2 || networks[0].Name != setting.Facilitated || networks[0].Mode != org.Live ||
		networks[1].Name != setting.IHE || networks[1].Mode != org.Test {
		t.Errorf("%+v, %v", networks, err)
	}
}

// TestSettingsErrorDoesNotQuoteConfiguration checks that the error does not quote the configuration, which might be a
// misplaced key.
func TestSettingsErrorDoesNotQuoteConfiguration(t *testing.T) {
	t.Parallel()
	for _, config := range []string{
		"SENTINEL", `{"networks":["SENTINEL"]}`, `{"networks":{"SENTINEL":{}}}`, `{"networks":{"ihe":"SENTINEL"}}`,
		`{"networks":{"ihe":{"mode":"SENTINEL"}}}`,
		`{"networks":{"ihe":{"mode":""}}}`,
	} {
		e := env(true, config)
		_, offered := e.Settings("https://us.example")
		_, asked := e.Networks()
		if offered == nil || asked == nil || strings.Contains(offered.Error()+asked.Error(), "SENTINEL") {
			t.Errorf("%s: %v, %v", config, offered, asked)
		}
	}
}

// TestSettingsRejectUnselectableProvider checks that the error names the member but does not quote its value.
func TestSettingsRejectUnselectableProvider(t *testing.T) {
	t.Parallel()
	const both = `"networks":{"ihe":{},"facilitated":{"mode":"test"}}`
	renamed := func(provider, id string) string { return strings.Replace(provider, `"id":"own"`, `"id":"`+id+`"`, 1) }
	for name, c := range map[string]struct {
		withSandbox bool
		config      string
		member      string
	}{
		"two of one id": {false, `{"providers":[` + own + `,` + own + `],` + both + `}`, "id"},
		"two of one id in two modes": {false, `{"providers":[` + renamed(own, "tests") + `,` + forTest + `],` +
			both + `}`, "id"},
		"the simulated one's": {true, `{"providers":[` +
			renamed(strings.Replace(own, "live", "test", 1), "simulated") + `]}`, "id"},
		"its id without the sandbox": {false, `{"providers":[` + renamed(own, "simulated") + `],` + both + `}`, "id"},
		"no network":                 {false, `{"providers":[` + forTest + `]}`, "mode"},
		"no network but simulated":   {true, `{"providers":[` + own + `]}`, "mode"},
		"a network of the other":     {false, `{"providers":[` + own + `],"networks":{"ihe":{"mode":"test"}}}`, "mode"},
		"one that believes too much": {false, `{"providers":[` + strings.Replace(own, "https", "http", 1) + `],` + both +
			`}`, "issuer"},
		"one that cannot be named": {false, `{"providers":[` + renamed(own, "SENTINEL") + `],` + both + `}`, "id"},
	} {
		settings, err := env(c.withSandbox, c.config).Settings("https://us.example")
		if err == nil || settings != nil || !strings.HasPrefix(err.Error(), "TEFCA_CONFIG: providers: "+c.member+":") ||
			strings.Contains(err.Error(), "SENTINEL") {
			t.Errorf("%s: %v, %v", name, settings, err)
		}
	}
}
