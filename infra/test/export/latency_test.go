package exporttest_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
)

// limitedServer is a FHIR server that delays responses, limits concurrency and counts requests.
type limitedServer struct {
	handler http.Handler
	late    time.Duration // delay before each response
	bears   int           // number of concurrent requests allowed before a 429 response; 0 means unlimited

	mu      sync.Mutex
	asked   int
	posts   int // number of batch requests
	busy    int
	most    int       // highest number of concurrent requests observed
	refused time.Time // time of the first 429 response
	after   int       // highest number of concurrent requests after the first 429 response
}

func (c *limitedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.URL.Path, "/fhir") {
		c.handler.ServeHTTP(w, r)
		return
	}
	defer c.leave()
	if r.Method == http.MethodPost {
		c.mu.Lock()
		c.posts++
		c.mu.Unlock()
	}
	if !c.enter() {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	select {
	case <-time.After(c.late):
		c.handler.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// enter counts a request and reports whether the concurrency limit allows it.
func (c *limitedServer) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.busy++
	c.most = max(c.most, c.busy)
	if !c.refused.IsZero() && time.Now().After(c.refused) {
		c.after = max(c.after, c.busy)
	}
	isTooMany := c.bears > 0 && c.busy > c.bears
	if isTooMany && c.refused.IsZero() {
		c.refused = time.Now()
	}
	return !isTooMany
}

func (c *limitedServer) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
}

func TestExportIsFastWithLateServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		late, within time.Duration
		switches     string
	}{
		{late: 50 * time.Millisecond, within: 1200 * time.Millisecond},
		{late: 200 * time.Millisecond, within: 4800 * time.Millisecond},
		{late: time.Second, within: 25 * time.Second},
		{late: time.Second, within: 25 * time.Second, switches: "attachment-urls"},
	} {
		t.Run(fmt.Sprintf("%v %s", c.late, c.switches), func(t *testing.T) {
			t.Parallel()
			if c.late < time.Second && !soaking() {
				t.Skip("measured by make soak; see docs/develop/performance.md")
			}
			handler, err := portal()
			expect.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				server := &limitedServer{handler: handler, late: c.late}
				r := scenario{handler: server, person: named(t, "cedar-brook"), switches: c.switches, label: "late"}.run(t)
				checkWhole(t, r)
				t.Logf("%d resources in %v, at most %d requests at once", r.task.Stats.TotalResources, r.took, server.most)
				if r.task.Stats.TotalResources != 2000 || r.took >= c.within {
					t.Errorf("%d resources in %v, want 2,000 within %v", r.task.Stats.TotalResources, r.took, c.within)
				}
				if server.most > 8 {
					t.Errorf("%d requests at once", server.most)
				}
			})
		})
	}
}

func TestExportLimitsConcurrencyAfter429(t *testing.T) {
	t.Parallel()
	for _, bears := range []int{1, 2, 3, 4, 5} {
		t.Run(fmt.Sprintf("%d at once", bears), func(t *testing.T) {
			t.Parallel()
			handler, err := portal()
			expect.NoError(t, err)
			synctest.Test(t, func(t *testing.T) {
				server := &limitedServer{handler: handler, late: 200 * time.Millisecond, bears: bears}
				s := scenario{handler: server, person: named(t, paged[0]), label: fmt.Sprintf("crowd-%d", bears)}
				if bears == 3 { // forces several worker runs; later runs start with the stored limit
					s.deadline = func(int) time.Duration { return 76 * time.Second }
				}
				r := s.run(t)
				checkWhole(t, r)
				t.Logf("%v in %d runs, at most %d at once, %d later", r.took, r.runs, server.most, server.after)
				if s.deadline != nil && r.runs < 3 {
					t.Errorf("%d runs, want several, none of which begins anew", r.runs)
				}
				if server.refused.IsZero() || server.after > bears {
					t.Errorf("%d requests at once after it had said that it bears %d", server.after, bears)
				}
				if server.after < bears {
					t.Errorf("only %d requests at once, although it bears %d", server.after, bears)
				}
			})
		})
	}
}
