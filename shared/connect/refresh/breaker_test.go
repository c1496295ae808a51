package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
)

func (d *endpoint) fail(t *testing.T, times int, err error) {
	t.Helper()
	before := d.ehr.err
	d.ehr.err = err
	for range times {
		if got := d.export(t.Context()); got == nil {
			t.Error("no error")
		}
	}
	d.ehr.err = before
}

func TestBreakerOpensForOneMinuteAfterFiveFailures(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"500":      errTheir,
		"a fault":  fault.New(fault.Upstream, fault.CodeTokenExchange, "No."),
		"too many": fault.New(fault.Limited, fault.CodeRateLimited, "Slow."),
		"timeout":  context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newEndpoint()
				d.fail(t, 4, err)
				expect.NoError(t, d.scheduled(t.Context())) // a success resets the failure count
				d.fail(t, 5, err)
				calls, opened := d.ehr.calls, time.Now()
				for range 5 {
					wantBusy(t, d.scheduled(t.Context()), opened.Add(time.Minute))
					<-time.After(10 * time.Second)
				}
				if d.ehr.calls != calls {
					t.Errorf("%d calls while it was open", d.ehr.calls-calls)
				}
				<-time.After(10 * time.Second)
				expect.NoError(t, d.scheduled(t.Context()))
				expect.NoError(t, d.scheduled(t.Context()))
				if got := d.breaker(); got != (refresh.Breaker{}) {
					t.Errorf("after a success: %+v", got)
				}
			})
		})
	}
}

func TestBreakerIgnoresInternalErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		for _, err := range []error{
			fault.New(fault.Unavailable, fault.CodeUnavailable, "Later."), fault.Missing("No."), context.Canceled,
			fmt.Errorf("sign: %w", fault.New(fault.Internal, fault.CodeServerError, "No.")),
		} {
			d.fail(t, 10, err)
		}
		if got := d.breaker(); got != (refresh.Breaker{}) {
			t.Errorf("breaker %+v", got)
		}
	})
}

func TestBreakerDoublesOpenPeriod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		d.fail(t, 5, errTheir)
		d.ehr.err = errTheir
		for _, want := range []int{1, 2, 4, 8, 16, 30, 30, 30} {
			if got := time.Until(d.breaker().OpenUntil); got != time.Duration(want)*time.Minute {
				t.Errorf("open for %v, want %d minutes", got, want)
			}
			<-time.After(time.Until(d.breaker().OpenUntil))
			if err := d.scheduled(t.Context()); !errors.Is(err, errTheir) {
				t.Errorf("the probe: %v", err)
			}
		}
	})
}

func TestBreakerHonoursRequestedWait(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ asked, want time.Duration }{
		{time.Second, time.Minute},
		{time.Hour, time.Hour},
		{1000 * time.Hour, day},
	} {
		asked, want := test.asked, test.want
		synctest.Test(t, func(t *testing.T) {
			d := newEndpoint()
			limited := fault.New(fault.Limited, fault.CodeRateLimited, "Slow.")
			d.fail(t, 5, limited.After(asked))
			if got := time.Until(d.breaker().OpenUntil); got != want {
				t.Errorf("asked for %v: open for %v, want %v", asked, got, want)
			}
			d.fail(t, 1, limited.After(asked+time.Hour)) // the response to an export's call requests a longer delay
			if got := time.Until(d.breaker().OpenUntil); got != min(asked+time.Hour, day) {
				t.Errorf("asked for an hour more: open for %v", got)
			}
		})
	}
}

func TestBreakerLimitsConcurrentProbesToOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outcome error
		closes  bool
	}{
		"a success":         {nil, true},
		"a refusal":         {tokens.ErrRefused, true},
		"a failure":         {errTheir, false},
		"a failure of ours": {fault.New(fault.Unavailable, fault.CodeUnavailable, "Later."), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newEndpoint()
				d.fail(t, 5, errTheir)
				<-time.After(time.Minute)
				calls := d.ehr.calls
				d.ehr.err = test.outcome
				var group sync.WaitGroup
				for range 3 {
					group.Go(func() { _ = d.scheduled(t.Context()) })
				}
				group.Wait()
				if got := d.ehr.calls - calls; got != 1 {
					t.Errorf("%d calls, want one probe", got)
				}
				if got := d.breaker() == (refresh.Breaker{}); got != test.closes {
					t.Errorf("breaker %+v, want it closed: %v", d.breaker(), test.closes)
				}
			})
		})
	}
}

func TestBreakerReplacesLostProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		d.fail(t, 5, errTheir)
		<-time.After(time.Minute)
		d.state.fails["ReleaseSlot"] = errOurs // simulates a worker crash
		d.ehr.err = context.Canceled
		_ = d.scheduled(t.Context())
		d.ehr.err = nil
		wantBusy(t, d.scheduled(t.Context()), d.breaker().OpenUntil)
		<-time.After(time.Minute)
		expect.NoError(t, d.scheduled(t.Context()))
	})
}

func TestBreakerRecordsOutcomeDespiteConcurrentWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		for range 3 {
			d.state.collisions = 3
			d.fail(t, 1, errTheir)
		}
		if got := d.breaker().Failures; got != 3 {
			t.Errorf("%d failures noted, want 3", got)
		}
	})
}

func TestBreakerAdmitsAndCountsExports(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		d.fail(t, 5, errTheir)
		open := d.breaker()
		d.fail(t, 3, errTheir)
		if d.breaker() != open {
			t.Errorf("failures of exports while it is open make it %+v, was %+v", d.breaker(), open)
		}
		expect.NoError(t, d.export(t.Context()))
		expect.NoError(t, d.scheduled(t.Context()))
	})
}

// TestLimiterReleasesSlotOfRefusedProbe checks that a caller that loses the race for the single probe releases its
// slot.
func TestLimiterReleasesSlotOfRefusedProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		d.fail(t, 5, errTheir)
		<-time.After(2 * time.Minute) // the breaker's open period has expired
		d.state.collisions = 1
		calls := d.ehr.calls
		wantBusy(t, d.scheduled(t.Context()), time.Now().Add(time.Minute))
		if taken := d.state.taken(refresh.EndpointName(endpointURL)); taken != 0 || d.ehr.calls != calls {
			t.Errorf("%d slots are taken after %d more calls", taken, d.ehr.calls-calls)
		}
	})
}
