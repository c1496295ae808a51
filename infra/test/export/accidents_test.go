package exporttest_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

func TestExportIsCompleteAfterSingleFailure(t *testing.T) {
	t.Parallel()
	for name, accident := range map[string]struct {
		switches string
		begins   string // URL prefix of requests that fail
		mishap   mishap
		times    int // number of failures; the retry after each one succeeds
	}{
		"the Patient ends in the middle":         {"", "Patient/", mishap{garbled: true}, 1},
		"the Patient breaks off":                 {"", "Patient/", mishap{cut: true}, 1},
		"the statement ends in the middle":       {"", "metadata", mishap{garbled: true}, 1},
		"the statement is lost":                  {"", "metadata", mishap{lost: true}, 1},
		"first pages end in the middle":          {"", "Observation?", mishap{garbled: true}, 1},
		"references end in the middle":           {"", "Organization/", mishap{garbled: true}, 1},
		"references are lost":                    {"", "Organization/", mishap{lost: true}, 1},
		"Binaries end in the middle":             {"", "Binary/", mishap{garbled: true}, 1},
		"contents end in the middle":             {"attachment-urls", "attachments/", mishap{cut: true}, 1},
		"contents of Binaries end in the middle": {"binary-not-json", "Binary/", mishap{cut: true}, 1},
		"a page that can be asked for once is lost": {
			"session-next,reject-count", "Observation?sessionID",
			mishap{lost: true},
			3,
		},
		"a page that can be asked for once is cut": {
			"session-next,reject-count", "Observation?sessionID",
			mishap{cut: true},
			3,
		},
		"a search has a 500":               {"", "Observation?", mishap{status: 500}, 1},
		"a search has a 408":               {"", "Observation?", mishap{status: 408}, 1},
		"a reference has a 500":            {"", "Organization/", mishap{status: 500}, 1},
		"nobody answers for half a minute": {"", "", mishap{late: headerTimeout}, 1},
		// The export waits for two minutes only once because a Retry-After header applies to all requests. If each
		// request had to wait five minutes, the export would not finish in time.
		"every request is refused for two minutes": {"", "", mishap{status: 429, retryAfter: "120"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := scenario{
					person: named(t, paged[0]), switches: accident.switches, label: "accident-" + strings.ReplaceAll(name, " ", "-"),
					mishap: func(address string, nth int) mishap {
						if isSecondTry := nth%2 == 0; isSecondTry || nth >= 2*accident.times ||
							!strings.HasPrefix(address, accident.begins) {
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

func TestExportReportsMissingTypesWhenCapabilityStatementIsUnreadable(t *testing.T) {
	t.Parallel()
	for name, accident := range map[string]mishap{
		"there is none": {status: 404}, "it fails": {status: 500}, "it is no JSON": {garbled: true},
		"it is never sent": {lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := scenario{
					person: named(t, paged[0]), label: "statement-" + strings.ReplaceAll(name, " ", "-"), known: newLearned(t),
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
