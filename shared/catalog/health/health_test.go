package health_test

import (
	"fmt"
	"testing"
	"time"

	"recordbridge/shared/catalog/health"
)

const endpointID = "0e000000-0000-4000-8000-000000000001"

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// step describes one probe, the time since the previous probe, and the results that connections reported during that
// time.
type step struct {
	after   time.Duration
	cause   string
	meets   health.Observed
	want    health.State
	wantFor string // expected Record.Cause
}

const quarter = 15 * time.Minute

func TestHealthAfterProbeDependsOnProbesAndConnections(t *testing.T) {
	t.Parallel()
	works, fails := health.Observed{Answered: 3}, health.Observed{Failing: true}
	none := health.Observed{}
	for name, steps := range map[string][]step{
		"a success": {{0, "", none, health.OK, ""}},
		"one failure of what was well": {
			{0, "", none, health.OK, ""},
			{quarter, "timeout", none, health.OK, "timeout"},
		},
		"one failure of what nobody knows": {{0, "dns", none, health.Unknown, "dns"}},
		"two failures": {
			{0, "", none, health.OK, ""},
			{quarter, "dns", none, health.OK, "dns"},
			{quarter, "dns", none, health.Degraded, "dns"},
		},
		"several failures over half an hour": {
			{0, "tls", none, health.Unknown, "tls"},
			{quarter, "tls", none, health.Degraded, "tls"},
			{quarter, "tls", none, health.Down, "tls"},
		},
		"several failures within a few minutes": {
			{0, "tls", none, health.Unknown, "tls"},
			{time.Minute, "tls", none, health.Degraded, "tls"},
			{time.Minute, "tls", none, health.Degraded, "tls"},
		},
		"recovery": {
			{0, "tls", none, health.Unknown, "tls"},
			{quarter, "tls", none, health.Degraded, "tls"},
			{quarter, "tls", none, health.Down, "tls"},
			{quarter, "", none, health.OK, ""},
		},
		"a failure after recovery begins anew": {
			{0, "tls", none, health.Unknown, "tls"},
			{time.Hour, "tls", none, health.Degraded, "tls"},
			{time.Hour, "", none, health.OK, ""},
			{time.Hour, "tls", none, health.OK, "tls"},
		},
		"connections that work beat a probe that fails": {
			{0, "", none, health.OK, ""},
			{quarter, "server_fault", works, health.OK, "server_fault"},
			{quarter, "server_fault", works, health.Degraded, "server_fault"},
			{time.Hour, "server_fault", works, health.Degraded, "server_fault"},
			{time.Hour, "server_fault", none, health.Down, "server_fault"},
			{time.Hour, "server_fault", works, health.Degraded, "server_fault"},
		},
		"tokens that fail where discovery is well": {
			{0, "", fails, health.Degraded, "token_endpoint"},
			{time.Hour, "", fails, health.Degraded, "token_endpoint"},
			{time.Hour, "", health.Observed{Failing: true, Answered: 1}, health.OK, ""},
		},
		"down stays so, once more failures come": {
			{0, "dns", none, health.Unknown, "dns"},
			{time.Hour, "dns", none, health.Degraded, "dns"},
			{time.Hour, "dns", none, health.Down, "dns"},
			{time.Hour, "timeout", none, health.Down, "timeout"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, at := health.Record{EndpointID: endpointID}, noon
			since, before := noon, health.Unknown
			for i, s := range steps {
				at = at.Add(s.after)
				r = r.After(health.Finding{Cause: s.cause}, s.meets, at)
				if s.want != before {
					since, before = at, s.want
				}
				if r.State != s.want || r.Cause != s.wantFor || !r.Since.Equal(since) || !r.CheckedAt.Equal(at) {
					t.Fatalf("after probe %d: %s because of %q since %v, want %s because of %q since %v", i, r.State, r.Cause, r.Since,
						s.want, s.wantFor, since)
				}
			}
		})
	}
}

// TestHealthAfterProbeIsUnchangedWhenServerIsBusy checks that probing a busy server leaves its state unchanged, and
// that the next probe waits for the delay that the server requests.
func TestHealthAfterProbeIsUnchangedWhenServerIsBusy(t *testing.T) {
	t.Parallel()
	well := health.Record{EndpointID: endpointID}.After(health.Finding{Token: "t"}, health.Observed{}, noon)
	busy := well.After(health.Finding{Cause: "limited", Busy: true, Wait: 5 * time.Hour}, health.Observed{},
		noon.Add(time.Hour))
	if busy.State != health.OK || busy.Failures != 0 || !busy.CheckedAt.Equal(noon) ||
		busy.NextAt.Sub(noon) != 6*time.Hour {
		t.Errorf("got %+v", busy)
	}
	if longest := well.After(health.Finding{Busy: true, Wait: 1000 * time.Hour}, health.Observed{},
		noon); longest.NextAt.Sub(noon) != 24*time.Hour {
		t.Errorf("a server that asks for 1,000 hours is probed again after %v", longest.NextAt.Sub(noon))
	}
}

// TestProbeIntervalIncreasesWhileEndpointFails checks that a failing endpoint is probed again after 15 minutes, and
// that the delay doubles after each failure, up to three days.
func TestProbeIntervalIncreasesWhileEndpointFails(t *testing.T) {
	t.Parallel()
	r, at, probes := health.Record{EndpointID: endpointID}, noon, 0
	var waits []time.Duration
	for ; at.Before(noon.AddDate(0, 0, 30)); at = r.NextAt {
		r = r.After(health.Finding{Cause: "dns"}, health.Observed{}, at)
		waits = append(waits, r.NextAt.Sub(at))
		probes++
	}
	for i, wait := range waits {
		want := min(quarter<<i, 72*time.Hour)
		if wait < want*9/10 || wait > want*11/10 {
			t.Errorf("wait %d is %v, want about %v", i, wait, want)
		}
	}
	if probes > 18 {
		t.Errorf("a server that is down for a month is asked %d times", probes)
	}
}

func TestHealthyEndpointIsProbedDaily(t *testing.T) {
	t.Parallel()
	var hours [24]int
	for n := range 24_000 {
		r := health.Record{EndpointID: fmt.Sprintf("0e000000-0000-4000-8000-%012d", n)}.After(health.Finding{},
			health.Observed{}, noon)
		if first := r.NextAt.Sub(noon); first < 12*time.Hour || first > 38*time.Hour {
			t.Fatalf("the second probe comes after %v", first)
		}
		before := r.NextAt
		r = r.After(health.Finding{}, health.Observed{}, before)
		if wait := r.NextAt.Sub(before); wait < 22*time.Hour || wait > 26*time.Hour {
			t.Fatalf("the third comes %v after the second", wait)
		}
		hours[r.After(health.Finding{}, health.Observed{}, r.NextAt).NextAt.Hour()]++
	}
	for hour, probes := range hours {
		if probes > 1100 || probes < 900 {
			t.Errorf("%d of 24,000 probes are in hour %d", probes, hour)
		}
	}
}

func TestDueAtSpreadsFirstProbesOverOneDay(t *testing.T) {
	t.Parallel()
	latest := func(endpoints int) (longest time.Duration) {
		for n := range 1000 {
			r := health.Record{EndpointID: fmt.Sprintf("0e000000-0000-4000-8000-%012d", n)}
			longest = max(longest, health.DueAt(r, noon, endpoints).Sub(noon))
		}
		return longest
	}
	if got := latest(5); got > 15*time.Second {
		t.Errorf("5 endpoints take %v", got)
	}
	if got := latest(100_000); got < 23*time.Hour || got > 24*time.Hour {
		t.Errorf("100,000 endpoints take %v", got)
	}
}
