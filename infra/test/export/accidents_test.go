package exporttest_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestOneAccidentCostsNothing(t *testing.T) {
	t.Parallel()
	for name, accident := range map[string]struct {
		switches string
		begins   string // of the addresses of the requests that go wrong
		mishap   mishap
	}{
		"the Patient ends in the middle":             {"", "Patient/", mishap{garbled: true}},
		"the Patient breaks off":                     {"", "Patient/", mishap{cut: true}},
		"the statement ends in the middle":           {"", "metadata", mishap{garbled: true}},
		"the statement is lost":                      {"", "metadata", mishap{lost: true}},
		"first pages end in the middle":              {"", "Observation?", mishap{garbled: true}},
		"references end in the middle":               {"", "Organization/", mishap{garbled: true}},
		"references are lost":                        {"", "Organization/", mishap{lost: true}},
		"Binaries end in the middle":                 {"", "Binary/", mishap{garbled: true}},
		"contents end in the middle":                 {"attachment-urls", "attachments/", mishap{cut: true}},
		"contents of Binaries end in the middle":     {"binary-not-json", "Binary/", mishap{cut: true}},
		"a page that can be asked for once is lost":  {"session-next", "Observation?sessionID", mishap{lost: true}},
		"a page that can be asked for once is cut":   {"session-next", "Observation?sessionID", mishap{cut: true}},
		"a search has a 500":                         {"", "Observation?", mishap{status: 500}},
		"a search has a 408":                         {"", "Observation?", mishap{status: 408}},
		"a reference has a 500":                      {"", "Organization/", mishap{status: 500}},
		"nobody answers for half a minute":           {"", "", mishap{late: headerTimeout}},
		"everybody is told to wait for five minutes": {"", "", mishap{status: 429, retryAfter: "300"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var sessions atomic.Int32 // each of a new address
				r := scenario{
					person: named(t, paged[0]), switches: accident.switches, label: "accident-" + strings.ReplaceAll(name, " ", "-"),
					mishap: func(address string, nth int) mishap {
						if nth > 1 || !strings.HasPrefix(address, accident.begins) ||
							accident.switches == "session-next" && sessions.Add(1) > 1 {
							return mishap{}
						}
						return accident.mishap
					},
				}.run(t)
				checkWhole(t, r)
				checkCalm(t, r)
			})
		})
	}
}

func TestWhereTheStatementCannotBeReadWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	for name, accident := range map[string]mishap{
		"there is none": {status: 404}, "it fails": {status: 500}, "it is no JSON": {garbled: true}, "it is never sent": {lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := scenario{
					person: named(t, paged[0]), label: "statement-" + strings.ReplaceAll(name, " ", "-"),
					mishap: func(address string, _ int) mishap {
						if address == "metadata" {
							return accident
						}
						return mishap{}
					},
				}.run(t)
				checkHonest(t, r)
			})
		})
	}
}
