package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/refresh"
	"recordbridge/shared/tokens"
)

// ehr is a token endpoint that answers after a while.
type ehr struct {
	mu           sync.Mutex
	takes        time.Duration
	err          error
	calls        int
	inside, most int
}

func (e *ehr) Refresh(ctx context.Context, _ org.Tenant, old tokens.Set) (tokens.Set, error) {
	e.mu.Lock()
	e.calls++
	e.inside++
	e.most = max(e.most, e.inside)
	takes, err := e.takes, e.err
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.inside--
	}()
	select {
	case <-time.After(takes):
		return old, err
	case <-ctx.Done():
		return tokens.Set{}, ctx.Err()
	}
}

// desk is a gate in front of an ehr.
type desk struct {
	ehr     *ehr
	traffic *traffic
	ids     int
	mu      sync.Mutex
}

func newDesk() *desk { return &desk{ehr: &ehr{takes: 10 * time.Second}, traffic: newTraffic()} }

// pass refreshes through a gate as a Keeper does that stores at once.
func pass(ctx context.Context, g refresh.Gate, old tokens.Set) (tokens.Set, error) {
	fresh, err := g.Refresh(ctx, tenant, old)
	if err == nil {
		fresh.Stored(context.WithoutCancel(ctx))
	}
	return fresh, err
}

func (d *desk) gate(isScheduled bool, patience time.Duration) refresh.Gate {
	return refresh.Gate{
		Refresher: d.ehr, Traffic: d.traffic, Now: time.Now, NewID: d.newID, Scheduled: isScheduled, Patience: patience,
	}
}

func (d *desk) newID() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids++
	return fmt.Sprint("owner ", d.ids)
}

func (d *desk) scheduled(ctx context.Context) error {
	_, err := pass(ctx, d.gate(true, 0), setOf("refresh 1"))
	return err
}

func (d *desk) export(ctx context.Context) error {
	_, err := pass(ctx, d.gate(false, 0), setOf("refresh 1"))
	return err
}

func (d *desk) breaker() refresh.Breaker {
	return d.traffic.breakers[refresh.EndpointName(endpointURL)]
}

// wantBusy: the endpoint was not asked, and the error says when to come again and that nothing was used.
func wantBusy(t *testing.T, err error, at time.Time) {
	t.Helper()
	busy, ok := errors.AsType[*refresh.BusyError](err)
	if !ok {
		t.Fatalf("error = %v, want *BusyError", err)
	}
	if !busy.RetryAt.Equal(at) || !busy.Unspent() {
		t.Errorf("busy until %v, unspent: %v; want %v", busy.RetryAt, busy.Unspent(), at)
	}
}

func TestAtMostFourRefreshesAreInFlightThreeOfThemScheduled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scheduled, exports int
		most               int
	}{
		"scheduled work alone": {10, 0, 3},
		"exports alone":        {0, 10, 4},
		"both":                 {10, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				var group sync.WaitGroup
				ask := func(isScheduled bool) {
					group.Go(func() {
						if _, err := pass(t.Context(), d.gate(isScheduled, 2*time.Minute), setOf("refresh 1")); err != nil {
							t.Errorf("scheduled %v: %v", isScheduled, err)
						}
					})
				}
				for range test.scheduled {
					ask(true)
				}
				synctest.Wait()
				for range test.exports {
					ask(false)
				}
				group.Wait()
				if d.ehr.most != test.most || d.ehr.calls != test.scheduled+test.exports {
					t.Errorf("%d calls, at most %d at once; want %d", d.ehr.calls, d.ehr.most, test.most)
				}
				if got := d.traffic.taken(refresh.EndpointName(endpointURL)); got != 0 {
					t.Errorf("%d slots are still taken", got)
				}
			})
		})
	}
}

func TestEndpointsDoNotWaitForOneAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		var group sync.WaitGroup
		for n := range 12 {
			set := setOf("refresh 1")
			set.TokenEndpoint = fmt.Sprint(endpointURL, n%4)
			group.Go(func() {
				if _, err := pass(t.Context(), d.gate(true, 0), set); err != nil {
					t.Errorf("%d: %v", n, err)
				}
			})
		}
		group.Wait()
		if d.ehr.most != 12 {
			t.Errorf("%d at once, want 12", d.ehr.most)
		}
	})
}

func TestWhoFindsNoSlotIsBusyWhenPatienceEnds(t *testing.T) {
	t.Parallel()
	for _, isScheduled := range []bool{true, false} {
		for _, patience := range []time.Duration{0, 5 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				d.ehr.takes = 44 * time.Second
				var group sync.WaitGroup
				for range 4 {
					group.Go(func() { _ = d.export(t.Context()) })
				}
				synctest.Wait()
				began := time.Now()
				_, err := pass(t.Context(), d.gate(isScheduled, patience), setOf("refresh 1"))
				if got := time.Since(began); got != patience {
					t.Errorf("waited %v, want %v", got, patience)
				}
				wantBusy(t, err, time.Now().Add(time.Minute))
				group.Wait()
				if d.ehr.calls != 4 || d.breaker().Failures != 0 {
					t.Errorf("%d calls, %+v", d.ehr.calls, d.breaker())
				}
			})
		}
	}
}

// A worker that crashed keeps its slot until the lease ends, and a call has ended before.
func TestASlotComesBackByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.ehr.takes = time.Hour
		d.traffic.fails["ReleaseSlot"] = errOurs
		var group sync.WaitGroup
		began := time.Now()
		for range 3 {
			group.Go(func() {
				if err := d.scheduled(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 45*time.Second {
					t.Errorf("after %v: %v, want the end of the call after 45 s", time.Since(began), err)
				}
			})
		}
		group.Wait()
		d.ehr.takes = 0
		wantBusy(t, d.scheduled(t.Context()), time.Now().Add(time.Minute))
		<-time.After(15 * time.Second)
		must(t, d.scheduled(t.Context()))
	})
}

func TestASlotIsGivenBackWhateverHappens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, end := range map[string]func(*desk, context.CancelFunc){
			"an error":     func(d *desk, _ context.CancelFunc) { d.ehr.err = errTheir },
			"a refusal":    func(d *desk, _ context.CancelFunc) { d.ehr.err = tokens.ErrRefused },
			"cancellation": func(d *desk, cancel context.CancelFunc) { d.ehr.takes = time.Hour; time.AfterFunc(time.Second, cancel) },
		} {
			d := newDesk()
			ctx, cancel := context.WithCancel(t.Context())
			end(d, cancel)
			if d.scheduled(ctx) == nil {
				t.Errorf("%s: no error", name)
			}
			cancel()
			if got := d.traffic.taken(refresh.EndpointName(endpointURL)); got != 0 {
				t.Errorf("%s: %d slots are still taken", name, got)
			}
		}
	})
}

// The answer to a taking that succeeded was lost: the slot is free again at once, not only when its lease ends.
func TestASlotThatWasTakenUnawaresIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		for _, ask := range []func(context.Context) error{d.scheduled, d.export} {
			d.traffic.lost["TakeSlot"] = errOurs
			_ = ask(t.Context())
			if got := d.traffic.taken(refresh.EndpointName(endpointURL)); got != 0 {
				t.Errorf("%d slots are still taken", got)
			}
		}
	})
}

// The end of the caller's time is no reason to forget what the endpoint has done.
func TestAnOutcomeIsNotedAlsoWhenTheCallerHasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.ehr.takes = time.Hour
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			_ = d.export(ctx)
			cancel()
		}
		if got := d.breaker().Failures; got != 5 {
			t.Errorf("%d failures noted, want 5", got)
		}
	})
}

func TestAnswersAreCountedAndFailuresAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		for _, err := range []error{nil, tokens.ErrRefused, errTheir, fmt.Errorf("%w: 401", tokens.ErrRefused), nil, nil, context.DeadlineExceeded} {
			d.ehr.err = err
			if got := d.scheduled(t.Context()); !errors.Is(got, err) {
				t.Errorf("error = %v, want %v", got, err)
			}
			_ = d.export(t.Context())
		}
		answered, refused, err := d.traffic.Counts(t.Context(), refresh.EndpointName(endpointURL), time.Now().Add(-time.Hour))
		if err != nil || answered != 10 || refused != 4 {
			t.Errorf("%d answered, %d refused (%v), want 10 and 4", answered, refused, err)
		}
	})
}

// What goes wrong with what all functions know together never stops an export, and stops scheduled work for a minute.
func TestAnExportGoesAheadWhateverTrafficDoes(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"TakeSlot", "ReleaseSlot", "Breaker", "SaveBreaker", "Count", "all of them hang"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				d.traffic.fails[call] = errOurs
				d.traffic.hangs = call == "all of them hang"
				began := time.Now()
				must(t, d.export(t.Context()))
				if got := time.Since(began); got > 16*time.Second {
					t.Errorf("an answer after 10 s came after %v", got)
				}
				calls := d.ehr.calls
				err := d.scheduled(t.Context())
				if call == "TakeSlot" || call == "Breaker" || d.traffic.hangs {
					wantBusy(t, err, time.Now().Add(time.Minute))
					if d.ehr.calls != calls {
						t.Error("scheduled work went ahead")
					}
				} else if err != nil {
					t.Errorf("scheduled work: %v", err)
				}
			})
		})
	}
}

// The time of a Keeper's refresh may be over before a slot was found: then nothing is used.
func TestACallIsNotBegunWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.traffic.hangs = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantBusy(t, d.export(ctx), time.Now().Add(time.Minute))
		if d.ehr.calls != 0 {
			t.Errorf("%d calls", d.ehr.calls)
		}
	})
}

// spentError is a failure that says whether the refresh token was used.
type spentError struct {
	error

	unspent bool
}

func (s spentError) Unspent() bool { return s.unspent }
func (s spentError) Unwrap() error { return s.error }

// A key of our client that is missing must not look as if the tokens were: they would never be refreshed again.
func TestAFailureOnTheWayDoesNotPassForAnAnswerAboutTheTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range []error{fault.Missing("No."), fault.Stale(), tokens.ErrNothingToRenew} {
			for _, unspent := range []bool{true, false} {
				d := newDesk()
				d.ehr.err = fmt.Errorf("read client: %w", spentError{kind, unspent})
				err := d.scheduled(t.Context())
				says, _ := errors.AsType[interface {
					error
					Unspent() bool
				}](err)
				if err == nil || errors.Is(err, kind) || errors.Is(err, fault.NotFound) || errors.Is(err, fault.Conflict) || says.Unspent() != unspent {
					t.Errorf("%v (unspent: %v) became %v", kind, unspent, err)
				}
			}
		}
	})
}

func TestErrorsNameNoEndpoint(t *testing.T) {
	t.Parallel()
	if name := refresh.EndpointName(endpointURL); len(name) != 64 || strings.Contains(name, "ehr") {
		t.Errorf("EndpointName = %q", name)
	}
	for _, err := range []error{&refresh.BusyError{}, &tokens.RefusalError{TokenEndpoint: endpointURL}} {
		if strings.Contains(err.Error(), "ehr.example") {
			t.Errorf("%v", err)
		}
	}
}

// TestNothingComesBetweenAGoodAnswerAndItsStorage: a crash there costs the new refresh token.
func TestNothingComesBetweenAGoodAnswerAndItsStorage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		fresh, err := d.gate(true, 0).Refresh(t.Context(), tenant, setOf("refresh 1"))
		must(t, err)
		name := refresh.EndpointName(endpointURL)
		if answered, _, _ := d.traffic.Counts(t.Context(), name, time.Now().Add(-time.Hour)); answered != 0 || d.traffic.taken(name) != 1 {
			t.Errorf("%d answers were counted and %d slots are taken before it is stored, want 0 and 1", answered, d.traffic.taken(name))
		}
		fresh.Stored(t.Context())
		if answered, _, _ := d.traffic.Counts(t.Context(), name, time.Now().Add(-time.Hour)); answered != 1 || d.traffic.taken(name) != 0 {
			t.Errorf("%d answers were counted and %d slots are taken after it, want 1 and 0", answered, d.traffic.taken(name))
		}
	})
}
