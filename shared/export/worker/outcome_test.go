package worker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/export"
)

func TestExportContinuesAfterFailedType(t *testing.T) {
	t.Parallel()
	html := "<!doctype html><html>Sign in</html>"
	for name, c := range map[string]struct {
		request  string
		answer   answer
		requests int
		waited   time.Duration
		want     export.TypeOutcome
		lost     []string
	}{
		"401 to this type alone": {
			findObservations,
			answer{status: 401},
			1, 0,
			export.TypeOutcome{Result: export.OutcomeDenied, Status: 401, Reason: export.LossRefused},
			[]string{"Observation"},
		},
		"403": {
			anyObservations,
			answer{status: 403},
			18, 0,
			export.TypeOutcome{Result: export.OutcomeDenied, Status: 403, Reason: export.LossRefused},
			[]string{"Observation"},
		},
		"404": {
			anyObservations,
			answer{status: 404, body: html},
			18, 0,
			export.TypeOutcome{Result: export.OutcomeUnsupported, Status: 404, Reason: export.LossRejected},
			[]string{"Observation"},
		},
		"400": {
			anyObservations,
			answer{status: 400},
			18, 0,
			export.TypeOutcome{Result: export.OutcomeUnsupported, Status: 400, Reason: export.LossRejected},
			[]string{"Observation"},
		},
		"a redirect to a sign-in page": {
			anyObservations,
			answer{status: 302},
			18, 0,
			export.TypeOutcome{Result: export.OutcomeUnsupported, Status: 302, Reason: export.LossRejected},
			[]string{"Observation"},
		},
		"500": {
			findObservations,
			answer{status: 500},
			4, 31 * time.Second,
			export.TypeOutcome{Result: export.OutcomeFailed, Status: 500, Reason: export.LossUnavailable},
			[]string{"Observation"},
		},
		// Each of the three rounds waits 3, 3, 3 and 4 seconds. After the first round's last attempt, the next request
		// also waits 3 seconds.
		"503 with Retry-After": {
			findObservations,
			answer{status: 503, retryAfter: 3},
			15, 6*time.Minute + 12*time.Second,
			export.TypeOutcome{Result: export.OutcomeFailed, Status: 503, Reason: export.LossUnavailable},
			[]string{"Observation"},
		},
		"429 without Retry-After": {
			findObservations,
			answer{status: 429},
			15, 5*time.Minute + 52500*time.Millisecond,
			export.TypeOutcome{Result: export.OutcomeFailed, Status: 429, Reason: export.LossUnavailable},
			[]string{"Observation"},
		},
		"no connection": {
			findObservations,
			answer{},
			15, 5*time.Minute + 52500*time.Millisecond,
			export.TypeOutcome{Result: export.OutcomeFailed, Reason: export.LossUnavailable},
			[]string{"Observation"},
		},
		"HTML": {
			findObservations,
			answer{status: 200, body: html},
			4, 31 * time.Second,
			export.TypeOutcome{Result: export.OutcomeFailed, Status: 200, Reason: export.LossContent},
			[]string{"Observation"},
		},
		"broken JSON": {
			findObservations,
			answer{status: 200, body: `{"resourceType":"Bundle","entry":[{`},
			4, 30 * time.Second,
			export.TypeOutcome{Result: export.OutcomeFailed, Status: 200, Reason: export.LossContent},
			[]string{"Observation"},
		},
		"an OperationOutcome in place of a page": {
			findObservations,
			answer{status: 200, body: `{"resourceType":"OperationOutcome"}`},
			4, 30 * time.Second,
			export.TypeOutcome{Result: export.OutcomeFailed, Status: 200, Reason: export.LossContent},
			[]string{"Observation"},
		},
		"page 2: 403": {
			observations2,
			answer{status: 403},
			1, 0,
			export.TypeOutcome{Result: export.OutcomeTruncated, Status: 403, Count: 2, Reason: export.LossRefused},
			[]string{"Observation/o3", "Observation/o4"},
		},
		"page 2: 500": {
			observations2,
			answer{status: 500},
			4, 31 * time.Second,
			export.TypeOutcome{Result: export.OutcomeTruncated, Status: 500, Count: 2, Reason: export.LossUnavailable},
			[]string{"Observation/o3", "Observation/o4"},
		},
		"page 2: HTML": {
			observations2,
			answer{status: 200, body: html},
			4, 31 * time.Second,
			export.TypeOutcome{Result: export.OutcomeTruncated, Status: 200, Count: 2, Reason: export.LossContent},
			[]string{"Observation/o3", "Observation/o4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				c.answer.always, c.want.Type = true, "Observation"
				b.server.script(c.request, c.answer)
				started := time.Now()
				b.finish(t)
				if diff := cmp.Diff(without(wholeRecord(), c.lost...), names(t, b.file(t))); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
				if got := outcomeOf(t, b.task(), "Observation"); got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if got := b.server.times(c.request); got != c.requests {
					t.Errorf("%d requests, want %d", got, c.requests)
				}
				if got := time.Since(started) - time.Duration(len(b.enqueued.tasks))*afterWait; got != c.waited {
					t.Errorf("waited %v, want %v", got, c.waited)
				}
			})
		})
	}
}

func TestWorkerRetriesFailedRequest(t *testing.T) {
	t.Parallel()
	for name, once := range map[string]answer{
		"500": {status: 500}, "503": {status: 503}, "429 with Retry-After": {status: 429, retryAfter: 20},
		"no connection": {}, "HTML": {status: 200, body: "<html>"}, "broken JSON": {status: 200, body: "{"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				for _, request := range []string{readPatient, "metadata", findConditions, observations2, "Binary/b1"} {
					if name != "broken JSON" || request == observations2 || request == findConditions {
						b.server.script(request, once)
					}
				}
				b.work(t, 0)
				if diff := cmp.Diff(wholeRecord(), names(t, b.file(t))); diff != "" {
					t.Errorf("file (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestWorkerReportsUnusableEntry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.server.script(findObservations, answer{status: 200, body: `{"resourceType":"Bundle","type":"searchset","entry":[` +
			`{"resource":{"resourceType":"Observation","id":"good"}},{"resource":{"id":"without-a-type"}}]}`})
		b.finish(t)
		want := export.TypeOutcome{
			Type: "Observation", Result: export.OutcomeTruncated, Count: 1, Missing: 1,
			Reason: export.LossContent,
		}
		if diff := cmp.Diff(want, outcomeOf(t, b.task(), "Observation")); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
	})
}
