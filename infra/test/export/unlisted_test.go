package exporttest_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
)

const unlistedTypes = "unlisted:Claim+ExplanationOfBenefit+Condition"

// trials counts the searches with which an export tests whether a server supports a resource type.
type trials struct {
	http.Handler

	mu    sync.Mutex
	asked map[string]int // number of searches by type
}

func (c *trials) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("_count") == "1" {
		c.mu.Lock()
		c.asked[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]]++
		c.mu.Unlock()
	}
	c.Handler.ServeHTTP(w, r)
}

// unlistedExport exports from a server whose CapabilityStatement omits types. It returns the result and the resource
// types for which the export sent a trial search.
func unlistedExport(t *testing.T, s scenario) (result, []string) {
	t.Helper()
	handler, err := portal()
	expect.NoError(t, err)
	counted := &trials{Handler: handler, asked: map[string]int{}}
	s.handler, s.person = counted, named(t, paged[0])
	if s.switches == "" {
		s.switches = unlistedTypes
	}
	r := s.run(t)
	return r, slices.Sorted(maps.Keys(counted.asked))
}

// missingOf returns the reason why resources of a type are missing, or "" if none are missing.
func missingOf(r result, resourceType string) string { return r.task.Shortfall().Missing[resourceType] }

func TestExportTriesUnlistedTypesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		remembered := newLearned(t)
		r, tried := unlistedExport(t, scenario{label: "unlisted-1", known: remembered})
		checkWhole(t, r)
		if len(tried) < 20 || !slices.Contains(tried, "Claim") || slices.Contains(tried, "Observation") ||
			r.task.Shortfall().Complete != nil {
			t.Errorf("tried %v, missing %v", tried, r.task.Shortfall().Missing)
		}
		r, tried = unlistedExport(t, scenario{label: "unlisted-2", known: remembered})
		checkWhole(t, r)
		if len(tried) > 0 {
			t.Errorf("tried again: %v", tried)
		}
		<-time.After(31 * 24 * time.Hour)
		r, tried = unlistedExport(t, scenario{label: "unlisted-3", known: remembered})
		checkWhole(t, r)
		if len(tried) < 20 {
			t.Errorf("tried after a month: %v", tried)
		}
	})
}

func TestExportRetriesUnlistedTypesAfterServerUpgrade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		remembered := newLearned(t)
		_, _ = unlistedExport(t, scenario{label: "release-1", known: remembered})
		server, err := remembered.Known(t.Context(), catalogued)
		expect.NoError(t, err)
		server.Release = "The release before"
		expect.NoError(t, remembered.SaveKnown(t.Context(), catalogued, server, time.Now()))
		r, tried := unlistedExport(t, scenario{label: "release-2", known: remembered})
		checkWhole(t, r)
		if !slices.Contains(tried, "Claim") {
			t.Errorf("tried %v", tried)
		}
	})
}

func TestExportReportsUntriedTypeAsNotAdvertised(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]mishap{
		"no answer": {refused: true}, "too many requests": {status: http.StatusTooManyRequests},
		"an error": {status: http.StatusInternalServerError},
		"no FHIR":  {garbled: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				remembered := newLearned(t)
				label := strings.ReplaceAll(name, " ", "-")
				r, _ := unlistedExport(t, scenario{
					label: label + "-1", known: remembered,
					mishap: func(address string, _ int) mishap {
						if strings.HasPrefix(address, "Claim?_count=1&") {
							return failure
						}
						return mishap{}
					},
				})
				checkHonest(t, r)
				if got := missingOf(r, "Claim"); got != string(export.LossNotAdvertised) {
					t.Errorf("Claim: %q, want not_advertised", got)
				}
				if got := missingOf(r, "Condition"); name != "too many requests" && got != "" {
					t.Errorf("Condition: %q", got)
				}
				r, tried := unlistedExport(t, scenario{label: label + "-2", known: remembered})
				checkWhole(t, r)
				if !slices.Contains(tried, "Claim") || slices.Contains(tried, "Account") {
					t.Errorf("tried in the next export: %v", tried)
				}
			})
		})
	}
}

func TestExportStopsTryingUnlistedTypesWhenServerFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]bool{}
		var mu sync.Mutex
		r, _ := unlistedExport(t, scenario{
			label: "trouble", known: newLearned(t),
			mishap: func(address string, _ int) mishap {
				if !strings.Contains(address, "_count=1&") {
					return mishap{}
				}
				mu.Lock()
				defer mu.Unlock()
				asked[address] = true
				return mishap{status: http.StatusInternalServerError}
			},
		})
		checkHonest(t, r)
		if len(asked) > 3+8 { // allows for requests that were in flight when the third request failed
			t.Errorf("%d types were tried at a server that fails", len(asked))
		}
		if missingOf(r, "SupplyDelivery") != string(export.LossNotAdvertised) {
			t.Errorf("missing %v", r.task.Shortfall().Missing)
		}
	})
}

func TestExportIgnoresTypesOutsideGrantedScopes(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]string{
		"it was not requested":           "patient/Patient.read patient/Observation.read",
		"the patient has not granted it": wideScope,
		"nobody knows":                   "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := scenario{
					label: strings.ReplaceAll(name, " ", "-"), known: newLearned(t),
					switches: unlistedTypes + ",grant-only:Patient+Observation",
				}
				s.opens = func(t *testing.T, doer smart.Doer, _ string) tokens.Set {
					t.Helper()
					s.person = named(t, paged[0])
					set := s.connect(t, doer, portalOf(doer))
					set.AskedScope = asked
					return set
				}
				r, tried := unlistedExport(t, s)
				if len(tried) > 0 {
					t.Errorf("tried %v", tried)
				}
				if got := missingOf(r, "Claim"); got != "" {
					t.Errorf("Claim is missing as %q", got)
				}
			})
		})
	}
}

func TestSubsequentExportsBatchUnlistedTypes(t *testing.T) {
	t.Parallel()
	handler, err := portal()
	expect.NoError(t, err)
	rare := []string{
		"AdverseEvent", "Basic", "ChargeItem", "ClinicalImpression", "Communication", "DetectedIssue", "EpisodeOfCare",
		"Flag", "Invoice",
		"MeasureReport", "MolecularSequence", "RiskAssessment", "SupplyDelivery", "VisionPrescription",
	}
	synctest.Test(t, func(t *testing.T) {
		remembered := newLearned(t)
		var asked, posts [2]int
		for nth := range asked {
			server := &limitedServer{handler: handler, late: 100 * time.Millisecond}
			r := scenario{
				handler: server, person: named(t, paged[0]), known: remembered, label: fmt.Sprintf("shared-%d", nth),
				switches: "all-types,batch:whole,unlisted:" + strings.Join(rare, "+"),
			}.run(t)
			checkWhole(t, r)
			asked[nth], posts[nth] = server.asked, server.posts
		}
		if asked[1] > asked[0]-len(rare) || posts[1] == 0 {
			t.Errorf("requests %v, of them batches %v; want at least %d less in the second export", asked, posts, len(rare))
		}
	})
}

func TestExportRetriesWithoutCountWhenServerRejectsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := unlistedExport(t, scenario{
			label: "uncounted", known: newLearned(t),
			switches: unlistedTypes + ",reject-count",
		})
		checkWhole(t, r)
	})
}
