package e2e_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"recordbridge/infra/testkit/expect"
)

// asked counts the exports' FHIR requests by kind.
type asked struct{ searches, trials, posts int }

type counter struct {
	mu  sync.Mutex
	now asked
}

func (c *counter) see(r *http.Request) *http.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !isFHIR(r):
	case r.Method == http.MethodPost:
		c.now.posts++
	case r.URL.Query().Get("_count") == "1":
		c.now.trials++
	case r.URL.Query().Has("_count"):
		c.now.searches++
	}
	return nil
}

// take returns the counts since its previous call.
func (c *counter) take() asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.now
	c.now = asked{}
	return seen
}

func TestSecondExportReusesLearnedServerProperties(t *testing.T) {
	t.Parallel()
	for with, check := range map[string]func(first, next asked) bool{
		"unlisted:Condition+Claim": func(first, next asked) bool {
			return first.trials > 20 && next.trials == 0 && next.searches >= first.searches
		},
		"all-types,batch:whole": func(first, next asked) bool {
			return first.posts > 0 && next.posts > first.posts && next.searches < first.searches
		},
		"all-types,batch:refused": func(first, next asked) bool {
			return first.posts > 0 && next.posts == 0 && next.searches >= first.searches
		},
	} {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStack(t, options{})
				var count counter
				s.intercept = count.see
				id := s.ehr.connectTo(quirk{with: with}).Get("org_connection_id")
				var seen [2]asked
				var results [2]string
				for nth, formats := range [][]string{{"jsonl"}, {"jsonl", "outcome"}} {
					count.take()
					taskID := s.org.requestExport(t, map[string]any{"org_connection_id": id, "formats": formats})
					s.clock.advance(5)
					seen[nth] = count.take()
					if got := s.state.task(taskID); got.text("status") != "success" {
						t.Fatalf("the export is %s because of %q", got.text("status"), got.text("failure_reason"))
					}
					results[nth] = statsOf(
						t,
						s.org.request(http.MethodGet, "/bridge/fhir/ehi-export/"+taskID+"?include=result", nil).Data,
					)
				}
				if !check(seen[0], seen[1]) {
					t.Errorf("asked %+v, then %+v", seen[0], seen[1])
				}
				if results[0] != results[1] {
					t.Errorf("exported %s, then %s", results[0], results[1])
				}
			})
		})
	}
}

// statsOf returns an export's statistics by resource type, or fails the test if the record is incomplete.
func statsOf(t *testing.T, body []byte) string {
	t.Helper()
	var result struct {
		told

		Stats json.RawMessage `json:"stats"`
	}
	expect.NoError(t, json.Unmarshal(body, &result))
	if result.Complete != nil || len(result.Stats) == 0 {
		t.Errorf("not whole: %s", body)
	}
	return string(result.Stats)
}
