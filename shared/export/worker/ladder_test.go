package worker_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir/plan"
)

func outcomeBody(code, diagnostics string) string {
	return `{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"` + code + `","diagnostics":"` +
		diagnostics + `"}]}`
}

func TestWorkerReplacesRejectedSearchWithoutLosingResources(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request string
		answer  answer
		then    string // request that replaces the failed request
	}{
		"_count": {
			findObservations,
			answer{status: 400, body: outcomeBody("processing", "does not know how to handle parameters [patient,_count]")},
			"Observation?patient=p1",
		},
		"category": {
			findObservations,
			answer{status: 400, body: outcomeBody("business-rule", "A required element is missing: category")},
			"Observation?_count=100&category=laboratory&patient=p1",
		},
		"the page is too large": {
			findObservations,
			answer{status: 200, body: `{"a":"` + strings.Repeat("x", 33<<20) + `"}`},
			"Observation?_count=25&patient=p1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				c.answer.always = true
				b.server.script(c.request, c.answer)
				b.work(t, 0)
				if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
				if b.server.times(c.then) != 1 {
					t.Errorf("%s was not asked: %v", c.then, b.server.asked)
				}
				if o := outcomeOf(t, b.task(), "Observation"); o.Result != export.OutcomeOK {
					t.Errorf("outcome %+v, want ok", o)
				}
			})
		})
	}
}

func TestEverythingOperationReplacesSearchesUnlessItFails(t *testing.T) {
	t.Parallel()
	const everything = "Patient/p1/$everything?_count=100"
	for name, c := range map[string]struct {
		answer   answer
		searched int
	}{
		"it works": {answer{
			status: 200,
			body:   `{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Condition","id":"c1"}}]}`,
		}, 0},
		"it fails": {answer{status: 404}, 1},
		"it knows the Patient alone": {answer{
			status: 200,
			body:   `{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Patient","id":"p1"}}]}`,
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.tokens.profile = plan.Profile{Everything: true}
				c.answer.always = true
				b.server.latency = time.Second
				b.server.script(everything, c.answer)
				b.work(t, 0)
				if got := b.server.times("Goal?_count=100&patient=p1"); got > 1 || got < c.searched {
					t.Errorf("searched %d times, want %d", got, c.searched)
				}
				count := 3
				if c.searched == 0 {
					count = 1
				}
				if o := outcomeOf(t, b.task(), "Condition"); o.Result != export.OutcomeOK || o.Count != count {
					t.Errorf("outcome %+v, want ok with %d", o, count)
				}
			})
		})
	}
}

func TestQueryRestartsWhenNextLinkWorksOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, whole, _ := uninterrupted(t)
		b := newBench(t)
		b.tokens.profile = plan.Profile{OnceNext: true}
		b.server.script(observations2, answer{status: 503, retryAfter: 60})
		b.finish(t)
		wantSameExport(t, b, file, whole)
		if got := b.server.times(findObservations); got != 2 {
			t.Errorf("searched %d times, want 2", got)
		}
	})
}

func TestReferencedResourceOfAnotherPatientIsExcluded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.add(t, `{"resourceType":"Specimen","id":"s1","subject":{"reference":"Patient/p2"}}`)
		b.work(t, 0)
		if diff := cmp.Diff(without(wholeRecord(), "Specimen"), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestWorkerWaitsWhenRateLimitIsNearlyUsedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.remaining = "1"
		started := time.Now()
		b.work(t, 0)
		if got := time.Since(started); got < 5*time.Second {
			t.Errorf("took %v, as if there were no limit", got)
		}
		if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestPatientIsFoundBySearchWhenReadIsRejected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.script(readPatient, answer{status: 400, always: true})
		b.server.script("Patient?_id=p1", answer{status: 200, body: `{"resourceType":"Bundle","entry":[` +
			`{"resource":{"resourceType":"Patient","id":"p2"}},{"resource":` + b.server.resources[readPatient] + `}]}`})
		b.work(t, 0)
		if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
			t.Errorf("file (-want +got):\n%s", diff)
		}
	})
}

func TestWorkerLimitsConcurrentRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile plan.Profile
		want    int
	}{
		"at a server that bears them":             {plan.Profile{}, 8},
		"at one whose profile says what it bears": {plan.Profile{InFlight: 2}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.server.latency, b.tokens.profile = time.Second, c.profile
				b.server.types = nil // the plan requests every type
				b.finish(t)
				if b.server.most != c.want {
					t.Errorf("%d requests were under way at once, want %d", b.server.most, c.want)
				}
			})
		})
	}
}

func TestWorkerStopsWhenAllResponsesAreTooLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.latency = time.Second
		b.work(t, 75500*time.Millisecond) // the run hands over to the next run after the first searches
		b.edit(t, func(all []map[string]any) []map[string]any {
			all[0]["oversize"] = 40
			return all
		})
		huge := `{"resourceType":"Bundle","entry":[` + strings.Repeat(`{"resource":{"resourceType":"A"}},`, 50_000) + `{}]}`
		b.server.script(anyObservations, answer{status: 200, body: huge, always: true})
		b.finish(t)
		if got := outcomeOf(t, b.task(), "Observation").Result; got != export.OutcomeFailed {
			t.Errorf("got %s", got)
		}
		if got := b.server.times(anyObservations); got > 2 {
			t.Errorf("%d requests for what is too large", got)
		}
	})
}
