package refresh_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
)

// TestSlotIsFreeAfterLeaseExpires checks that a crashed worker's slot stays leased until after the worker's call would
// have ended.
func TestSlotIsFreeAfterLeaseExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		d.ehr.takes = time.Hour
		d.state.fails["ReleaseSlot"] = errOurs
		var group sync.WaitGroup
		began := time.Now()
		for range 3 {
			group.Go(func() {
				if err := d.scheduled(t.Context()); !errors.Is(err, context.DeadlineExceeded) ||
					time.Since(began) != 45*time.Second {
					t.Errorf("after %v: %v, want the end of the call after 45 s", time.Since(began), err)
				}
			})
		}
		group.Wait()
		d.ehr.takes = 0
		wantBusy(t, d.scheduled(t.Context()), time.Now().Add(time.Minute))
		<-time.After(15*time.Second + time.Microsecond)
		expect.NoError(t, d.scheduled(t.Context()))
	})
}

func TestSlotIsReleasedOnEveryOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, end := range map[string]func(*endpoint, context.CancelFunc){
			"an error":  func(d *endpoint, _ context.CancelFunc) { d.ehr.err = errTheir },
			"a refusal": func(d *endpoint, _ context.CancelFunc) { d.ehr.err = tokens.ErrRefused },
			"cancellation": func(d *endpoint, cancel context.CancelFunc) {
				d.ehr.takes = time.Hour
				time.AfterFunc(time.Second, cancel)
			},
		} {
			d := newEndpoint()
			ctx, cancel := context.WithCancel(t.Context())
			end(d, cancel)
			if d.scheduled(ctx) == nil {
				t.Errorf("%s: no error", name)
			}
			cancel()
			if got := d.state.taken(refresh.EndpointName(endpointURL)); got != 0 {
				t.Errorf("%s: %d slots are still taken", name, got)
			}
		}
	})
}

// TestSlotIsReleasedWhenLeaseResponseIsLost covers a successful lease whose response was lost. The slot must be
// released immediately rather than when the lease expires.
func TestSlotIsReleasedWhenLeaseResponseIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newEndpoint()
		for _, ask := range []func(context.Context) error{d.scheduled, d.export} {
			d.state.lost["TakeSlot"] = errOurs
			_ = ask(t.Context())
			if got := d.state.taken(refresh.EndpointName(endpointURL)); got != 0 {
				t.Errorf("%d slots are still taken", got)
			}
		}
	})
}
