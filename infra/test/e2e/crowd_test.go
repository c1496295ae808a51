package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

const (
	// mostAtOnce is the maximum number of concurrent refreshes at a token endpoint (docs/develop/lifecycles.md, "The
	// life of a connection").
	mostAtOnce = 4
	// The surge guard engages if at least surgeFrom refreshes receive a response within surgeWindow and the portal
	// rejects more than one in five. While the surge guard is engaged, it revokes a connection only if the portal
	// rejects the token again at least secondAfter later.
	surgeFrom, surgeWindow, secondAfter = 50, 15 * time.Minute, time.Hour
)

// crowdSizes returns the number of patients at each portal that must not trigger the surge guard (few) and at the
// portal that must (many). many is always 100 because the guard needs enough data. In a soak test, few is also 100.
func crowdSizes() (few, many int) {
	if isSoak() {
		return 100, 100
	}
	return 12, 100
}

// crowd is a set of connections at one portal that all come due at once.
type crowd struct {
	with     string
	path     string            // portal's path
	refresh  map[string]string // each connection's first refresh token
	now, max int               // current and maximum numbers of concurrent refreshes
}

// TestRefreshLimitsCrowdOfSimultaneouslyDueConnections makes many connections at each of three portals due for a
// refresh at once. A portal must receive at most 4 concurrent refreshes, and a failing portal must not lose any
// connection. If a portal rejects every refresh, only the first few connections are revoked immediately. The remaining
// connections are revoked an hour later, when the portal rejects their tokens again. Each revocation must be reported
// once.
func TestRefreshLimitsCrowdOfSimultaneouslyDueConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		l := s.ehr.keepLedger()
		few, many := crowdSizes()
		healthy := gather(s, l, "label:well", few)
		broken := gather(s, l, "refresh-fails:500", few)
		surging := gather(s, l, "refresh-fails:invalid_grant", many)
		watchCrowds(s, l, healthy, broken, surging)
		<-time.After(11 * 24 * time.Hour)
		s.pollers = 5
		for n := 0; n < 60 && isAnyLeft(s, surging); n++ {
			if n == 10 {
				<-time.After(30 * time.Minute) // longer than all short retry delays
			}
			s.clock.pass(time.Minute)
		}
		for _, c := range []*crowd{healthy, broken, surging} {
			if c.max > mostAtOnce {
				t.Errorf("%s: %d refreshes were under way at once, want at most %d", c.with, c.max, mostAtOnce)
			}
		}
		if surging.max < 2 {
			t.Error("there was no crowd")
		}
		for id := range healthy.refresh {
			s.check.refreshed(t, id)
		}
		for id := range broken.refresh {
			if got := s.state.connection(id); got.text("status") != "authorized" || got.text("ended") != "" ||
				s.state.tokens(id)["sealed"] == nil {
				t.Errorf("at a portal that fails, a connection is %s because of %q", got.text("status"), got.text("ended"))
			}
		}
		checkSurge(t, s, l, surging)
	})
}

func gather(s *stack, l *ledger, with string, patients int) *crowd {
	s.t.Helper()
	address := s.ehr.connectURLOf(quirk{with: with})
	c := &crowd{with: with, path: "/sandbox/with/" + with + "/", refresh: map[string]string{}}
	for range patients {
		answer, last := s.patient.browser().open(address, crashPersona, "approve")
		if answer != nil {
			s.t.Fatalf("the browser ended at %s with %d", last.Path, answer.status)
		}
		c.refresh[last.Query().Get("org_connection_id")] = l.newest
	}
	return c
}

// watchCrowds delays every token request by a second and counts the concurrent requests at each portal.
func watchCrowds(s *stack, l *ledger, crowds ...*crowd) {
	var mu sync.Mutex
	count := func(path string, change int) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range crowds {
			if strings.Contains(path, c.path) {
				c.now += change
				c.max = max(c.max, c.now)
			}
		}
	}
	s.intercept = func(r *http.Request) *http.Response {
		if !isTokenRequest(r) {
			return l.serve(r)
		}
		count(r.URL.Path, 1)
		defer count(r.URL.Path, -1)
		<-time.After(time.Second) // virtual time, because the test runs inside testing/synctest
		return l.serve(r)
	}
}

func isAnyLeft(s *stack, c *crowd) bool {
	for id := range c.refresh {
		if s.state.connection(id).text("status") != "revoked" {
			return true
		}
	}
	return false
}

// checkSurge checks that every connection was revoked and that each revocation was reported once. Once the surge guard
// engages, the first rejection of a token must not revoke its connection.
func checkSurge(t *testing.T, s *stack, l *ledger, c *crowd) {
	t.Helper()
	first := make([]time.Time, 0, len(c.refresh))
	for _, token := range c.refresh {
		if len(l.shown[token]) == 0 {
			t.Fatal("a refresh token was never used")
		}
		first = append(first, l.shown[token][0])
	}
	told, held := revocations(s), 0
	for id, token := range c.refresh {
		if got := s.state.connection(id); got.text("ended") != "invalid_grant" || s.state.tokens(id)["sealed"] != nil {
			t.Errorf("a connection is %s because of %q", got.text("status"), got.text("ended"))
		}
		times := l.shown[token]
		before := 0
		for _, at := range first {
			if at.Before(times[0]) && times[0].Sub(at) < surgeWindow {
				before++
			}
		}
		guarded := before >= surgeFrom
		if guarded {
			held++
		}
		last := times[len(times)-1]
		if len(times) > 2 || guarded && (len(times) < 2 || last.Sub(times[0]) < secondAfter) {
			t.Errorf("refused at %v after %d others", times, before)
		}
		if len(told[id]) != 1 || told[id][0].Sub(last).Abs() > time.Minute {
			t.Errorf("refused last at %v, and told at %v", last, told[id])
		}
	}
	if held < len(first)/4 || len(told) != len(c.refresh) {
		t.Errorf("the guard held %d of %d, and %d revocations were told", held, len(first), len(told))
	}
	t.Logf("%d refused over %s, %d of them held", len(first),
		slices.MaxFunc(first, time.Time.Compare).Sub(slices.MinFunc(first, time.Time.Compare)), held)
}

// revocations returns the times of the revocation events sent to the first organisation, by connection.
func revocations(s *stack) map[string][]time.Time {
	s.t.Helper()
	told := map[string][]time.Time{}
	for _, d := range s.webhooks.events(string(webhook.AuthorizationEnded)) {
		var body struct {
			Date time.Time `json:"date"`
			Data struct {
				ID string `json:"org_connection_id"`
			} `json:"data"`
		}
		expect.NoError(s.t, json.Unmarshal([]byte(d.Body), &body))
		told[body.Data.ID] = append(told[body.Data.ID], body.Date)
	}
	return told
}
