package rounds_test

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
)

// TestRunProbesNationwideCatalogueWithinOneDay covers 29,000 endpoints at 3,000 hosts. One host serves 5,000 of the
// endpoints, and every eighth host is down.
func TestRunProbesNationwideCatalogueWithinOneDay(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECORDBRIDGE_SOAK") == "" {
		t.Skip("takes ten seconds: run make soak")
	}
	synctest.Test(t, func(t *testing.T) {
		const endpoints, hosts, ofOne = 29_000, 3_000, 5_000
		all := make([]health.Endpoint, 0, endpoints)
		for n := range endpoints {
			host := n % hosts
			if n < ofOne {
				host = hosts
			}
			all = append(all, endpoint(n, host))
		}
		w := newWorld(all...)
		isDead := func(e health.Endpoint) bool { return w.dead[hostOf(e)] }
		for n := range hosts {
			if n%8 == 0 {
				w.dead[hostOf(endpoint(0, n))] = true
			}
		}
		r := w.rounds()
		w.pass(t, r, 24*time.Hour+30*time.Minute)
		first := count(w, all, func(health.Endpoint) bool { return true })
		if first[0] != 0 {
			t.Errorf("%d endpoints were not probed in the first day", first[0])
		}
		readBefore, writtenBefore := w.rows()
		w.probes, w.summaries = map[string]int{}, 0
		w.pass(t, r, 24*time.Hour)
		well, down := count(w, all, func(e health.Endpoint) bool { return !isDead(e) }), count(w, all, isDead)
		probes := 0
		for n, of := range well {
			probes += n * of
			if n > 2 {
				t.Errorf("%d endpoints that are well were probed %d times in a day", of, n)
			}
		}
		if once := well[1]; once < len(all)*7/8*8/10 {
			t.Errorf("only %d endpoints were probed once in the second day: %v", once, well)
		}
		for n, of := range down {
			probes += n * of
			if n > 6 {
				t.Errorf("%d endpoints that went down yesterday were probed %d times", of, n)
			}
		}
		if w.together || w.most > 16 {
			t.Errorf("%d probes at once, two at one host: %t", w.most, w.together)
		}
		kept := w.kept(t)
		for _, e := range all {
			want := health.OK
			if isDead(e) {
				want = health.Down
			}
			if got := kept[e.ID].State; got != want {
				t.Fatalf("%s is %s, want %s", e.Base, got, want)
			}
		}
		if loads := w.Calls("Records") - 1; loads != 1 || w.summaries > 300 {
			t.Errorf("the records were read %d times as a whole, %d summaries a day", loads, w.summaries)
		}
		reads, writes := w.rows()
		t.Logf("a day: %d probes, of which %v endpoints that are down so often; %d reads and %d writes of rows, %d "+
			"summaries of %d bytes, at most %d at once",
			probes, down, reads-readBefore, writes-writtenBefore, w.summaries,
			len(w.objects[health.ObjectName("live", w.pointer(t).Version)]), w.most)
	})
}

// count returns the number of endpoints, keyed by how often each was probed.
func count(w *world, all []health.Endpoint, of func(health.Endpoint) bool) map[int]int {
	times := map[int]int{}
	for _, e := range all {
		if of(e) {
			times[w.probes[e.ID]]++
		}
	}
	return times
}

func hostOf(e health.Endpoint) string {
	return e.Base[len("https://") : len("https://")+indexOf(e.Base[len("https://"):])]
}

func indexOf(rest string) int {
	for i, c := range rest {
		if c == '/' {
			return i
		}
	}
	return len(rest)
}

// several returns count endpoints, each on a separate host.
func several(count int) []health.Endpoint {
	all := make([]health.Endpoint, 0, count)
	for n := range count {
		all = append(all, endpoint(n, n))
	}
	return all
}

func TestRunIgnoresFailuresWhenLocalNetworkIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(several(40)...)
		r := w.rounds()
		w.pass(t, r, 5*time.Minute)
		w.dark = true
		w.pass(t, r, 60*time.Hour)
		for id, one := range w.kept(t) {
			if one.State != health.OK && one.State != health.Degraded {
				t.Errorf("%s is %s", id, one.State)
			}
		}
		w.dark = false
		w.pass(t, r, 30*time.Minute)
		for id, one := range w.kept(t) {
			if one.State != health.OK {
				t.Errorf("%s is %s half an hour after the outage", id, one.State)
			}
		}
	})
}

func TestRunRecordsFailuresWhenNoServerEverResponded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(several(8)...)
		w.dark = true
		w.pass(t, w.rounds(), 3*time.Hour)
		for id, one := range w.kept(t) {
			if one.State != health.Down {
				t.Errorf("%s is %s", id, one.State)
			}
		}
		if len(w.kept(t)) != 8 {
			t.Errorf("%d records", len(w.kept(t)))
		}
	})
}

// TestRunPreventsConcurrentRuns checks that a process reads another process's rows before it starts probing, and that
// two processes never probe at the same time.
func TestRunPreventsConcurrentRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(several(30)...)
		one, other := w.rounds(), w.rounds()
		for range 3 {
			w.pass(t, one, time.Minute)
			w.pass(t, other, time.Minute)
		}
		w.catalog.Endpoints, w.catalog.Version = append(w.catalog.Endpoints, several(60)[30:]...), "2"
		before := w.Calls("SaveRecord")
		if err := errors.Join(w.visit(t, one), w.visit(t, other)); err != nil || w.Calls("SaveRecord")-before != 30 {
			t.Errorf("%d of 30 new ones were asked (%v)", w.Calls("SaveRecord")-before, err)
		}
		for id, n := range w.probes {
			if n != 1 {
				t.Errorf("%s was probed %d times", id, n)
			}
		}
	})
}

// TestRunSkipsRemainingEndpointsOfUnresponsiveHost checks that a run gives up on a host with hundreds of tenants after
// two unanswered probes.
func TestRunSkipsRemainingEndpointsOfUnresponsiveHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := make([]health.Endpoint, 0, 6)
		for n := range 6 {
			all = append(all, endpoint(n, 1))
		}
		w := newWorld(all...)
		w.dead["h1.example"] = true
		<-time.After(time.Hour)
		if err := w.visit(t, w.rounds()); err != nil {
			t.Fatal(err)
		}
		if len(w.probes) != 2 {
			t.Errorf("%d of its endpoints were asked", len(w.probes))
		}
	})
}

func TestRunSkipsRemainingEndpointsOfBusyHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(endpoint(1, 1), endpoint(2, 1))
		for _, e := range w.catalog.Endpoints {
			w.findings[e.ID] = health.Finding{Cause: "limited", Busy: true}
		}
		<-time.After(time.Hour)
		if err := w.visit(t, w.rounds()); err != nil || len(w.probes) != 1 {
			t.Errorf("%d were asked (%v)", len(w.probes), err)
		}
	})
}

func TestRunSkipsForbiddenURLs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		abroad := endpoint(1, 1)
		abroad.Base = "https://forbidden.example/fhir"
		w := newWorld(abroad, endpoint(2, 2))
		w.pass(t, w.rounds(), time.Hour)
		if w.probes[abroad.ID] != 0 || w.probes[endpoint(2, 2).ID] != 1 {
			t.Errorf("asked: %v", w.probes)
		}
	})
}

func TestRunKeepsEndpointUpWhileConnectionsWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, other := endpoint(1, 1), endpoint(2, 2)
		w := newWorld(e, other)
		r := w.rounds()
		w.pass(t, r, time.Minute*2)
		for _, one := range []health.Endpoint{e, other} {
			w.findings[one.ID] = health.Finding{Cause: "server_fault"}
		}
		w.answered["token of h1.example"] = 4
		w.pass(t, r, 72*time.Hour)
		if here, there := w.record(t, e).State, w.record(t, other).State; here != health.Degraded || there != health.Down {
			t.Errorf("the one with connections is %s, the other %s", here, there)
		}
		w.findings, w.failing["token of h2.example"] = map[string]health.Finding{}, true
		w.pass(t, r, 72*time.Hour)
		if here, there := w.record(t, e), w.record(t, other); here.State != health.OK || there.State != health.Degraded ||
			there.Cause != "token_endpoint" {
			t.Errorf("the one is %s, the one whose token endpoint fails %s because of %s", here.State, there.State, there.Cause)
		}
	})
}

func TestRunStoresDiscoveredURLsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(1, 1)
		w := newWorld(e)
		found := health.Finding{Token: "t", DiscoveredURLs: health.DiscoveredURLs{
			EndpointID: e.ID, Mode: e.Mode, SeenAt: time.Now(),
			Pins: catalog.Pins{Issuer: "https://h1.example"},
		}}
		w.findings[e.ID] = found
		r := w.rounds()
		w.pass(t, r, 3*24*time.Hour)
		w.pass(t, r, 3*24*time.Hour)
		handed, err := w.DiscoveredURLs(t.Context(), "live")
		expect.NoError(t, err)
		if len(handed) != 1 || handed[0].Pins.Issuer != "https://h1.example" || w.Calls("SaveDiscoveredURLs") != 1 ||
			w.probes[e.ID] < 5 {
			t.Errorf("handed on %+v, %d times, after %d probes", handed, w.Calls("SaveDiscoveredURLs"), w.probes[e.ID])
		}
		found.DiscoveredURLs.Untrusted = []catalog.Departure{{Role: "token", To: "https://other.example"}}
		w.findings[e.ID] = found
		w.pass(t, r, 3*24*time.Hour)
		if w.Calls("SaveDiscoveredURLs") != 2 {
			t.Error("what went abroad was not handed on")
		}
	})
}

func TestRunKeepsStateAfterInternalFailure(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"Live", "SaveRecord", "Failing", "put"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(several(3)...)
				w.broken[call] = errTrouble
				r := w.rounds()
				<-time.After(time.Hour)
				if err := w.visit(t, r); !errors.Is(err, errTrouble) {
					t.Errorf("got %v", err)
				}
				delete(w.broken, call)
				<-time.After(time.Minute)
				w.pass(t, r, 10*time.Minute)
				if got := health.Summarize(nil); w.pointer(t).Version == "" || got.Len() != 0 {
					t.Error("there is no summary")
				}
				for id, one := range w.kept(t) {
					if one.State != health.OK {
						t.Errorf("%s is %s", id, one.State)
					}
				}
			})
		})
	}
}

// TestRunWritesSummaryAfterChange checks that a state change causes a new summary, at most once every five minutes. If
// no state changes, a summary is written once an hour, provided that probes ran.
func TestRunWritesSummaryAfterChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(1, 1)
		w := newWorld(e)
		r := w.rounds()
		w.pass(t, r, 12*time.Hour-time.Minute)
		if w.summaries != 1 {
			t.Errorf("%d summaries of one success", w.summaries)
		}
		w.dead["h1.example"] = true
		w.pass(t, r, 48*time.Hour)
		made, err := health.ReadSummary(w.objects[health.ObjectName("live", w.pointer(t).Version)])
		if err != nil || made.Of(e.ID).State != health.Down || w.summaries > 14 {
			t.Errorf("%+v after %d summaries (%v)", made.Of(e.ID), w.summaries, err)
		}
	})
}

// TestRunDeletesRecordOneMonthAfterEndpointIsRemoved also checks that all other records are retained.
func TestRunDeletesRecordOneMonthAfterEndpointIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(endpoint(1, 1))
		const month = 30 * 24 * time.Hour
		ages := map[int]time.Duration{1: month, 2: month, 3: month - time.Minute}
		for n, age := range ages {
			e := endpoint(n, n)
			expect.NoError(t, w.EndpointHealth.SaveRecord(t.Context(),
				health.Record{EndpointID: e.ID, Mode: e.Mode, CheckedAt: time.Now().Add(-age)}))
		}
		expect.NoError(t, w.rounds().Run(t.Context()))
		left, err := w.Records(t.Context(), "live")
		expect.NoError(t, err)
		for _, r := range left {
			if r.EndpointID == endpoint(2, 2).ID {
				t.Error("what has gone long ago is still known")
			}
		}
		if len(left) != 2 {
			t.Errorf("left are %v", left)
		}
	})
}
