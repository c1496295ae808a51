package probe

import (
	"slices"
	"strings"
)

// Step identifies a part of the test. Step values are stable.
type Step string

// Steps of the test, in report order.
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

// Result is the outcome of a check.
type Result string

// Results of a check.
const (
	OK      Result = "ok"
	Warning Result = "warning" // sign-in may partly work; the operator should investigate
	Failed  Result = "failed"  // patients can't connect, or will lose their connection
	Skipped Result = "skipped"
)

// Check is the result of one step. Text from the server is truncated and limited to printable ASCII.
type Check struct {
	Step   Step   `json:"step"`
	Result Result `json:"result"`
	Asked  string `json:"asked,omitempty"`  // method, origin and path of the request
	Status int    `json:"status,omitempty"` // HTTP status of the response
	Found  string `json:"found"`
	Do     string `json:"do,omitempty"` // recommended action
}

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

// ordered returns the checks in step order, omitting steps that the test did not reach.
func (r *report) ordered() []Check {
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
	// maxTold is the maximum length, in bytes, of each server-supplied string in the report.
	maxTold = 200
	// maxListed is the maximum number of words in a list in the report.
	maxListed = 24
)

// plain makes text from a server safe to display in a terminal.
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

// listed formats a list of words, which may come from the server.
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
