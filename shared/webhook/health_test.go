package webhook_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

// failed returns a response that ends a delivery at its first attempt, so that tests control when failures occur.
func failed(string, int) (webhook.Answer, error) {
	return webhook.Answer{Status: 500, Control: "abort-message"}, nil
}

func TestContinuousFailureWarnsTwiceAndDisablesAfterFiveDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = failed
		w.subscribe(t, "s1")
		worker := w.worker()
		started := time.Now()
		for hour := 0; hour < 125; hour += 4 {
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, hour).ID))
			if got, want := w.subscription(t).Disabled, hour >= 120; got != want {
				t.Fatalf("after %d hours disabled = %t", hour, got)
			}
			<-time.After(4 * time.Hour)
		}
		got := make([]string, 0, len(w.told))
		for _, n := range w.told {
			got = append(got, fmt.Sprintf("%q after %v, warned %d times, %d failures", n.reason, n.at.Sub(started),
				n.health.Warned, n.health.Failures))
		}
		want := []string{
			`"" after 24h0m0s, warned 1 times, 7 failures`, `"" after 96h0m0s, warned 2 times, 25 failures`,
			`"failing" after 120h0m0s, warned 2 times, 31 failures`,
		}
		if diff := cmp.Diff(want, got); diff != "" || len(w.posts) != 31 || w.late {
			t.Errorf("%d posts, notices (-want +got):\n%s", len(w.posts), diff)
		}
	})
}

func TestSuccessResetsFailureCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = failed
		w.subscribe(t, "s1")
		worker := w.worker()
		for hour := 0; hour < 240; hour += 4 {
			w.answer = failed
			if hour == 116 {
				w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 200}, nil }
			}
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, hour).ID))
			<-time.After(4 * time.Hour)
		}
		// Warnings are sent at hours 24 and 96. In the run of failures that begins at hour 120, warnings are sent at
		// hours 144 and 216.
		if s := w.subscription(t); s.Disabled || s.Health.Failures != 30 || len(w.told) != 4 ||
			s.Health.LastSuccess.IsZero() {
			t.Errorf("disabled: %t, health %+v, %d notices", s.Disabled, s.Health, len(w.told))
		}
		occasions := map[string]bool{}
		for _, n := range w.told {
			occasions[fmt.Sprint(n.health.FailingSince, n.health.Warned)] = true
		}
		if len(occasions) != 4 {
			t.Errorf("%d of the warnings are occasions of their own, want 4", len(occasions))
		}
	})
}

func TestRarelyUsedWebhookIsNotDisabledAfterFewFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = failed
		w.subscribe(t, "s1")
		for i := range 5 {
			if s := w.subscription(t); s.Disabled || s.Health.Warned != 0 {
				t.Fatalf("after %d failures: disabled %t, %d warnings", i, s.Disabled, s.Health.Warned)
			}
			expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
			<-time.After(40 * time.Hour)
		}
		if !w.subscription(t).Disabled {
			t.Error("five failures over 160 hours do not disable")
		}
	})
}

// TestOwnerIsWarnedOnceWhenAllAttemptsOfEventFail checks that an event that fails for 75 h 35 min causes a single
// warning, after one day.
func TestOwnerIsWarnedOnceWhenAllAttemptsOfEventFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 503}, nil }
		w.subscribe(t, "s1")
		worker := w.worker()
		started := time.Now()
		expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emit(t).ID))
		for rows := w.due(t); len(rows) > 0; rows = w.due(t) {
			sleepUntil(w.nextAttempt(rows[0].At))
			expect.NoError(t, worker.RetryDelivery(t.Context(), tenant, rows[0].ID))
		}
		const whole = 75*time.Hour + 35*time.Minute + 5*time.Second
		if got := w.posts[9].at.Sub(started); got != whole || len(w.posts) != 10 {
			t.Errorf("%d attempts, the last after %v", len(w.posts), got)
		}
		if len(w.told) != 1 || w.told[0].at.Sub(started) != 31*time.Hour+35*time.Minute+5*time.Second ||
			w.told[0].health.Failures != 8 {
			t.Errorf("told %+v, want a warning with the eighth attempt", w.told)
		}
		if s := w.subscription(t); s.Disabled || s.Health.Failures != 10 || s.Health.Trips != 1 {
			t.Errorf("subscription = %+v", s)
		}
	})
}

// nextAttempt returns the time at which the queue or the sweeper starts a delivery due at the given time.
func (w *world) nextAttempt(due time.Time) time.Time {
	if n := len(w.queued); n > 0 {
		due = time.Now().Add(w.queued[n-1].delay)
		w.queued = nil
	}
	return due
}

func TestBreakerPostponesDeliveryWithoutCountingAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = failed
		w.subscribe(t, "s1")
		worker := w.worker()
		for i := range 10 {
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
			<-time.After(time.Second)
		}
		opened := w.posts[9].at
		for i := 10; i < 13; i++ {
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
		}
		if len(w.posts) != 10 || len(w.due(t)) != 3 {
			t.Fatalf("%d posts with an open breaker and %d due, want 10 and 3", len(w.posts), len(w.due(t)))
		}
		for i, open := range []time.Duration{
			time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute,
		} {
			health := w.subscription(t).Health
			if got := health.OpenUntil.Sub(opened); got != open || health.Trips != i+1 {
				t.Fatalf("open for %v after %d trips, want %v", got, health.Trips, open)
			}
			w.runUntil(t, worker, opened.Add(open-time.Second))
			if len(w.posts) != 10+i {
				t.Fatalf("%d posts while the breaker was open, want %d", len(w.posts), 10+i)
			}
			sleepUntil(opened.Add(open))
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, 100+i).ID)) // this attempt is the probe
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, 200+i).ID))
			if len(w.posts) != 11+i {
				t.Fatalf("%d posts with a half-open breaker, want %d", len(w.posts), 11+i)
			}
			opened = time.Now()
		}
		w.answer = func(string, int) (webhook.Answer, error) { return webhook.Answer{Status: 200}, nil }
		w.runUntil(t, worker, time.Now().Add(time.Hour))
		if health := w.subscription(t).Health; health.Failures != 0 || !health.OpenUntil.IsZero() || health.Trips != 0 {
			t.Errorf("health after a success = %+v", health)
		}
		if rows := w.due(t); len(rows) != 0 || len(w.posts) != 16+9 {
			t.Errorf("%d posts and %d due, want the 9 that waited delivered", len(w.posts), len(rows))
		}
	})
}

func (w *world) runUntil(t *testing.T, worker webhook.Worker, end time.Time) {
	t.Helper()
	for rows := w.due(t); len(rows) > 0; rows = w.due(t) {
		next := rows[0].At.Add(-30 * time.Second) // The message arrives before the sweeper runs.
		if time.Until(rows[0].At) > 15*time.Minute || !next.After(time.Now()) {
			next = rows[0].At // the queue was empty
		}
		if next.After(end) {
			break
		}
		sleepUntil(next)
		expect.NoError(t, worker.RetryDelivery(t.Context(), tenant, rows[0].ID))
	}
	if time.Now().Before(end) {
		sleepUntil(end)
	}
}

func TestInFlightAttemptsDoNotReopenBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer = failed
		w.subscribe(t, "s1")
		for i := range 9 {
			expect.NoError(t, w.worker().DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
		}
		started := time.Now()
		var under atomic.Int64
		w.answer = func(url string, n int) (webhook.Answer, error) {
			<-time.After(time.Duration(under.Add(1)) * time.Second)
			return failed(url, n)
		}
		events := []string{w.emitNth(t, 10).ID, w.emitNth(t, 11).ID, w.emitNth(t, 12).ID}
		var next atomic.Int64
		together(t, len(events), func() error {
			return w.worker().DeliverEvent(t.Context(), tenant, events[next.Add(1)-1])
		})
		health := w.subscription(t).Health
		if health.Failures != 12 || health.Trips != 1 || health.OpenUntil.Sub(started) != time.Minute+time.Second {
			t.Errorf("%d failures, %d trips, open until %v after the start; want 12, 1 and 1m1s",
				health.Failures, health.Trips, health.OpenUntil.Sub(started))
		}
	})
}

// TestBurstIsSentAtEndpointRate checks that a burst is sent at the endpoint's rate. Each delivery is scheduled only
// once, and waiting does not use up any of its attempts.
func TestBurstIsSentAtEndpointRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(t, webhook.Draft{Rate: 5})
		worker := w.worker()
		const events = 40
		started := time.Now()
		for i := range events {
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
		}
		w.runUntil(t, worker, started.Add(time.Minute))
		perSecond := map[int]int{}
		for _, p := range w.posts {
			perSecond[int(p.at.Sub(started)/time.Second)]++
		}
		// The first attempt needs no slot under the endpoint's rate limit. The rate limit then allows a burst of five
		// attempts, followed by five attempts per second.
		for second := range 7 {
			want := 5
			if second == 0 {
				want = 5 + 6
			}
			if n := perSecond[second]; n < want-1 || n > want {
				t.Errorf("%d posts in second %d, want %d", n, second, want)
			}
		}
		last := slices.MaxFunc(w.posts, func(a, b post) int { return a.at.Compare(b.at) }).at.Sub(started)
		if len(w.posts) != events || len(w.queued) != events-6 || last < 6*time.Second || last > 8*time.Second {
			t.Errorf("%d posts, %d waits, the last after %v", len(w.posts), len(w.queued), last)
		}
	})
}

// TestEndpointRateIsEnforcedAfterOutage checks that waiting attempts do not all start at once after a worker outage,
// when every reserved slot is in the past.
func TestEndpointRateIsEnforcedAfterOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(t, webhook.Draft{Rate: 5})
		worker := w.worker()
		const events = 40
		for i := range events {
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, i).ID))
		}
		before := len(w.posts)
		<-time.After(time.Minute)
		resumed := time.Now()
		w.runUntil(t, worker, resumed.Add(time.Minute))
		perSecond := map[int]int{}
		for _, p := range w.posts[before:] {
			perSecond[int(p.at.Sub(resumed)/time.Second)]++
		}
		for second, n := range perSecond {
			if n > 5+6 || second > 0 && n > 5+1 {
				t.Errorf("%d posts in second %d after the standstill, at a rate of 5", n, second)
			}
		}
		if len(w.posts) != events {
			t.Errorf("%d posts, want %d", len(w.posts), events)
		}
	})
}

// TestPacerProcessCountMatchesTemplate checks that the maximum number of processes matches template.yaml and that
// attempts without a slot add up to a tenth of the rate.
func TestPacerProcessCountMatchesTemplate(t *testing.T) {
	t.Parallel()
	for _, f := range tables.Template(t).Functions {
		if f.LogicalID != "WebhookWorkerFunction" {
			continue
		}
		for _, trigger := range f.QueueTriggers {
			if trigger.MaxConcurrency != webhook.Processes {
				t.Errorf("template.yaml lets %d workers run, the pacer counts with %d", trigger.MaxConcurrency, webhook.Processes)
			}
			return
		}
	}
	t.Error("template.yaml has no webhook worker")
}

// TestPacerReservesSlotsInAdvance checks that a process reserves slots for several attempts in one store call, and that
// it calls the store again after unused slots have expired.
func TestPacerReservesSlotsInAdvance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.create(t, webhook.Draft{})
		worker := w.worker()
		asked := func() int {
			expect.NoError(t, worker.DeliverEvent(t.Context(), tenant, w.emitNth(t, len(w.posts)).ID))
			n := 0
			for _, call := range w.calls {
				if strings.HasSuffix(call, " UpdateItem") {
					n++
				}
			}
			return n
		}
		for nth, want := range []int{0, 1, 1, 1} { // The first attempt needs no slot under the rate limit.
			if got := asked(); got != want {
				t.Errorf("attempt %d: asked %d times, want %d", nth+1, got, want)
			}
		}
		<-time.After(2 * time.Second)
		if got := asked(); got != 2 {
			t.Errorf("after a pause: asked %d times, want 2", got)
		}
	})
}
