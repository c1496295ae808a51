package refresh_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
)

// errOutage is the error of a refresh during which KMS failed.
var errOutage = fmt.Errorf("open tokens: %w", fault.Spot{
	Dependency: "KMS", Key: "TokensKey", Operation: "Decrypt", Class: "KMSInternalException",
}.Failed(errors.New("KMS: status 500")))

func TestFailedRefreshPostponesNextRefresh(t *testing.T) {
	t.Parallel()
	asked := fault.New(fault.Limited, fault.CodeRateLimited, "Slow.").After(2 * time.Hour)
	for name, test := range map[string]struct {
		err      error
		failures int
		from, to time.Duration
		counted  bool
	}{
		"the first failure":         {errTheir, 0, 225 * time.Second, 5 * time.Minute, true},
		"the second":                {errTheir, 1, 450 * time.Second, 10 * time.Minute, true},
		"the eighth":                {errTheir, 7, 480 * time.Minute, 640 * time.Minute, true},
		"the thousandth":            {errTheir, 999, 9 * time.Hour, 12 * time.Hour, true},
		"a wait that was asked for": {fmt.Errorf("refresh tokens: %w", asked), 0, 2 * time.Hour, 130 * time.Minute, true},
		"an absurd wait":            {asked.After(1e6 * time.Hour), 0, day, day + 10*time.Minute, true},
		"a fault of ours": {
			fault.New(fault.Unavailable, fault.CodeUnavailable, "Later."), 0, 225 * time.Second,
			5 * time.Minute, true,
		},
		"another worker refreshes": {
			fmt.Errorf("lease tokens: %w", fault.Stale()), 3, 2 * time.Minute,
			2 * time.Minute, false,
		},
		"the endpoint is not asked": {
			fmt.Errorf("refresh tokens: %w", &refresh.BusyError{RetryAt: start.Add(time.Hour)}),
			3, time.Hour, 70 * time.Minute, false,
		},
		"AWS fails":                   {errOutage, 3, 2 * time.Minute, 4 * time.Minute, false},
		"a refusal without a version": {tokens.ErrRefused, 0, 225 * time.Second, 5 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench()
			b.err = test.err
			b.change(func(c *connection.Connection) { c.Refresh.Failures = test.failures })
			want, got := b.now(), b.look(t)
			wait := got.Refresh.RefreshAt.Sub(start)
			if wait < test.from || wait > test.to {
				t.Errorf("due again after %v, want %v to %v", wait, test.from, test.to)
			}
			want.Rev, want.Refresh.RefreshAt = want.Rev+1, got.Refresh.RefreshAt
			if test.counted {
				want.Refresh.Failures++
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("connection (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWorkerStoresLastFailureClass checks that the connection's row contains the last failure's class, so that
// operators don't have to search the log.
func TestWorkerStoresLastFailureClass(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]fault.Spot{
		"server_fault":  {Step: fault.StepToken, Host: "ehr.example", Status: 500, Class: "server_fault"},
		"TOKENS.sealed": {Operation: "open", Row: "TOKENS", Attribute: "sealed"},
	} {
		b := newBench()
		b.err = at.Failed(errTheir)
		if got := b.look(t); got.Refresh.FailureClass != want {
			t.Errorf("kept %q, want %q", got.Refresh.FailureClass, want)
		}
	}
}

func TestConnectionWithoutTokensIsNeverDue(t *testing.T) {
	t.Parallel()
	b := newBench()
	b.err = fmt.Errorf("read tokens: %w", fault.Missing("No."))
	if got := b.look(t); got.Status != connection.Authorized || !got.DueAt().IsZero() {
		t.Errorf("%s, due at %v", got.Status, got.DueAt())
	}
}

func TestWorkerSpreadsRetriesOfFailedConnections(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&refresh.BusyError{RetryAt: start.Add(time.Minute)}, errTheir} {
		times := map[time.Time]bool{}
		for n := range 100 {
			b := newBench()
			b.err = err
			id := fmt.Sprintf("c0000000-0000-4000-8000-%012d", n)
			c := b.now()
			c.ID = id
			b.store.connections[id] = c
			expect.NoError(t, b.worker().Process(t.Context(), tenant, id))
			times[b.store.connections[id].Refresh.RefreshAt.Truncate(time.Second)] = true
		}
		if len(times) < 50 {
			t.Errorf("100 connections that meet %T come again at %d different seconds", err, len(times))
		}
	}
}
