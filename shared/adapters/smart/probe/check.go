package probe

import (
	"slices"
	"strings"
)

// Step is a part of the test, as a stable word.
type Step string

// The steps, in the order in which they are told.
const (
	Address             Step = "address"
	Discovery           Step = "discovery"
	PKCE                Step = "pkce"
	GrantTypes          Step = "grant_types"
	Capabilities        Step = "capabilities"
	Issuer              Step = "issuer"
	Pins                Step = "pins"
	CapabilityStatement Step = "capability_statement"
	ResourceTypes       Step = "resource_types"
	Searches            Step = "searches"
	Registration        Step = "registration"
	Scopes              Step = "scopes"
	Client              Step = "client"
	ClientKeys          Step = "keys"
	TokenEndpoint       Step = "token_endpoint"
	TokenRefresh        Step = "token_refresh"
	TokenCode           Step = "token_code"
	Authorize           Step = "authorize"
)

func steps() []Step {
	return []Step{
		Address, Discovery, PKCE, GrantTypes, Capabilities, Issuer, Pins, CapabilityStatement, ResourceTypes, Searches,
		Registration,
		Scopes, Client, ClientKeys, TokenEndpoint, TokenRefresh, TokenCode, Authorize,
	}
}

// Result is what came of a check.
type Result string

// The results.
const (
	OK      Result = "ok"
	Warning Result = "warning" // may work, or work in part; somebody has to look
	Failed  Result = "failed"  // patients cannot connect, or lose their connection
	Skipped Result = "skipped"
)

// Check is what was found in one step. Texts of the server's own are in it only as printable ASCII and shortened.
type Check struct {
	Step   Step   `json:"step"`
	Result Result `json:"result"`
	Asked  string `json:"asked,omitempty"`  // method, origin and path
	Status int    `json:"status,omitempty"` // of the HTTP answer
	Found  string `json:"found"`
	Do     string `json:"do,omitempty"` // what to do
}

// report collects checks.
type report struct{ checks []Check }

func (r *report) add(step Step, result Result, seen exchange, found, do string) {
	if seen.said != "" {
		found += " The server says: \"" + seen.said + "\"."
	}
	r.checks = append(r.checks, Check{
		Step: step, Result: result, Asked: seen.asked, Status: seen.status,
		Found: found, Do: do,
	})
}

func (r *report) skip(step Step, why string) { r.add(step, Skipped, exchange{}, why, "") }

// told are the checks in the order of the steps. A step that was not reached is skipped.
func (r *report) told() []Check {
	var all []Check
	for _, step := range steps() {
		of := slices.DeleteFunc(slices.Clone(r.checks), func(c Check) bool { return c.Step != step })
		if len(of) == 0 {
			of = []Check{{Step: step, Result: Skipped, Found: "An earlier check failed."}}
		}
		all = append(all, of...)
	}
	return all
}

const (
	// maxTold is how much of a text of the server's own is told, in bytes.
	maxTold = 200
	// maxListed is how many words of a list are told.
	maxListed = 24
)

// plain is a text of the server's own as a terminal may show it.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '_'
		}
		return r
	}, text[:min(len(text), maxTold)])
	if text == "" {
		return "(none)"
	}
	return text
}

// listed is a list of words, some of them perhaps the server's own.
func listed(words []string) string {
	told := make([]string, 0, maxListed+1)
	for _, word := range words[:min(len(words), maxListed)] {
		told = append(told, plain(word))
	}
	if len(words) > maxListed {
		told = append(told, "and more")
	}
	return strings.Join(told, ", ")
}
