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

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// ehr simulates a token endpoint that responds after a delay.
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

type endpoint struct {
	ehr   *ehr
	state *endpointState
	ids   int
	mu    sync.Mutex
}

func newEndpoint() *endpoint {
	return &endpoint{ehr: &ehr{takes: 10 * time.Second}, state: newEndpointState()}
}

func limiter(state refresh.EndpointState, isScheduled bool, maxWait time.Duration, newID ids.Source) refresh.Limiter {
	if isScheduled {
		return refresh.NewScheduledLimiter(state, maxWait, time.Now, newID)
	}
	return refresh.NewExportLimiter(state, maxWait, time.Now, newID)
}

// refresh simulates a tokens.Manager that stores the endpoint's response immediately.
func (d *endpoint) refresh(ctx context.Context, isScheduled bool, maxWait time.Duration, url string) error {
	slot, err := limiter(d.state, isScheduled, maxWait, d.newID).Acquire(ctx, url)
	if err != nil {
		return err
	}
	asking, cancel := context.WithDeadline(ctx, slot.Until())
	defer cancel()
	_, err = d.ehr.Refresh(asking, tenant, setOf("refresh 1"))
	slot.Release(ctx, err)
	return err
}

func (d *endpoint) newID() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids++
	return fmt.Sprint("owner ", d.ids)
}

func (d *endpoint) scheduled(ctx context.Context) error { return d.refresh(ctx, true, 0, endpointURL) }

func (d *endpoint) export(ctx context.Context) error { return d.refresh(ctx, false, 0, endpointURL) }

func (d *endpoint) breaker() refresh.Breaker {
	return d.state.breakers[refresh.EndpointName(endpointURL)]
}

// wantBusy checks that err is a *BusyError with the given retry time and an unspent token.
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

func TestLimiterAllowsFourRefreshesAtMostThreeScheduled(t *testing.T) {
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
				d := newEndpoint()
				var group sync.WaitGroup
				ask := func(isScheduled bool) {
					group.Go(func() {
						if err := d.refresh(t.Context(), isScheduled, 2*time.Minute, endpointURL); err != nil {
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
				if got := d.state.taken(refresh.EndpointName(endpointURL)); got != 0 {
					t.Errorf("%d slots are still taken", got)
				}
			})
		})
	}
}

func TestLimiterSeparatesEndpoints(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		var group sync.WaitGroup
		for n := range 12 {
			group.Go(func() {
				if err := d.refresh(t.Context(), true, 0, fmt.Sprint(endpointURL, n%4)); err != nil {
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

func TestLimiterReturnsBusyAfterMaxWait(t *testing.T) {
	t.Parallel()
	for _, isScheduled := range []bool{true, false} {
		for _, maxWait := range []time.Duration{0, 5 * time.Second} {
			synctest.Test(t, func(t *testing.T) {
				d := newEndpoint()
				d.ehr.takes = 44 * time.Second
				var group sync.WaitGroup
				for range 4 {
					group.Go(func() { _ = d.export(t.Context()) })
				}
				synctest.Wait()
				began := time.Now()
				err := d.refresh(t.Context(), isScheduled, maxWait, endpointURL)
				if got := time.Since(began); got != maxWait {
					t.Errorf("waited %v, want %v", got, maxWait)
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

func TestLimiterRecordsOutcomeAfterCallerCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
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

func TestLimiterCountsResponsesButNotFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		for _, err := range []error{
			nil, tokens.ErrRefused, errTheir, fmt.Errorf("%w: 401", tokens.ErrRefused), nil, nil,
			context.DeadlineExceeded,
		} {
			d.ehr.err = err
			if got := d.scheduled(t.Context()); !errors.Is(got, err) {
				t.Errorf("error = %v, want %v", got, err)
			}
			_ = d.export(t.Context())
		}
		answered, refused, err := d.state.Counts(t.Context(), refresh.EndpointName(endpointURL), time.Now().Add(-time.Hour))
		if err != nil || answered != 10 || refused != 4 {
			t.Errorf("%d answered, %d refused (%v), want 10 and 4", answered, refused, err)
		}
	})
}

// TestLimiterAdmitsExportWhenStateFails also checks that scheduled work is postponed by a minute.
func TestLimiterAdmitsExportWhenStateFails(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"TakeSlot", "ReleaseSlot", "Breaker", "SaveBreaker", "Count", "all of them hang"} {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newEndpoint()
				d.state.fails[call] = errOurs
				d.state.hangs = call == "all of them hang"
				began := time.Now()
				expect.NoError(t, d.export(t.Context()))
				if got := time.Since(began); got > 16*time.Second {
					t.Errorf("an answer after 10 s came after %v", got)
				}
				calls := d.ehr.calls
				err := d.scheduled(t.Context())
				if call == "TakeSlot" || call == "Breaker" || d.state.hangs {
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

// TestLimiterRejectsCallAfterDeadline covers a refresh deadline that passes before a slot becomes free.
func TestLimiterRejectsCallAfterDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		d.state.hangs = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantBusy(t, d.export(ctx), time.Now().Add(time.Minute))
		if d.ehr.calls != 0 {
			t.Errorf("%d calls", d.ehr.calls)
		}
	})
}

// spentError is an error that reports whether the refresh token was used.
type spentError struct {
	error

	unspent bool
}

func (s spentError) Unspent() bool { return s.unspent }

func (s spentError) Unwrap() error { return s.error }

func TestErrorsContainNoEndpointURL(t *testing.T) {
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

// TestRefreshStoresResponseBeforeReleasingSlot checks the order of calls. If the slot were released first, a crash
// before the write would lose the new refresh token.
func TestRefreshStoresResponseBeforeReleasingSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, name := newEndpoint(), refresh.EndpointName(endpointURL)
		answers := func() int {
			n, _, _ := d.state.Counts(t.Context(), name, time.Now().Add(-time.Hour))
			return n
		}
		store := storing{newMemory(), func() {
			if n, taken := answers(), d.state.taken(name); n != 0 || taken != 1 {
				t.Errorf("%d answers were counted and %d slots are taken before it is stored, want 0 and 1", n, taken)
			}
		}}
		vault := tokens.Vault{Sealer: plainSealer{}}
		row, err := vault.Seal(t.Context(), tenant, connID, 1, setOf("refresh 1"))
		expect.NoError(t, err)
		store.rows[connID] = row
		manager := tokens.NewManager(store, vault, d.ehr, limiter(d.state, true, 0, d.newID), time.Now, d.newID)
		got, err := manager.Refresh(t.Context(), tenant, connID)
		if expect.NoError(t, err); got.Version != 2 || answers() != 1 || d.state.taken(name) != 0 {
			t.Errorf("version %d, %d answers and %d slots taken after it, want 2, 1 and 0", got.Version, answers(),
				d.state.taken(name))
		}
	})
}

// storing signals when a token set is about to be stored.
type storing struct {
	*memory

	before func()
}

func (s storing) RotateTokens(ctx context.Context, row tokens.Row) error {
	s.before()
	return s.memory.RotateTokens(ctx, row)
}
