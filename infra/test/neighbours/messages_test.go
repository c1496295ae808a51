package neighbours_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/adapters/queue"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/ids"
)

// TestMessageBurstDoesNotDelayOtherOrganisations checks that one organisation's burst of messages does not delay
// another organisation's message. A soak test sends 100,000 messages.
func TestMessageBurstDoesNotDelayOtherOrganisations(t *testing.T) {
	t.Parallel()
	many := 3000
	if isSoak() {
		many = 100_000
	}
	for name, c := range map[string]struct {
		invocations int           // MaximumConcurrency in template.yaml
		takes       time.Duration // typical processing time of a message
		isFair      bool
		atMost      time.Duration
	}{
		"events":                     {50, 80 * time.Millisecond, true, time.Second},
		"events, an unfair queue":    {50, 80 * time.Millisecond, false, time.Hour},
		"refreshes":                  {10, 500 * time.Millisecond, true, time.Second},
		"refreshes, an unfair queue": {10, 500 * time.Millisecond, false, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !c.isFair && !isSoak() {
				t.Skip("what it was without fair queues is measured in a soak")
			}
			synctest.Test(t, func(t *testing.T) {
				waited := burst(t, &source{invocations: c.invocations, batch: 10}, many, c.takes, c.isFair)
				if waited > c.atMost {
					t.Errorf("another waited %v, want at most %v", waited, c.atMost)
				}
				t.Logf("behind %d messages of one organisation, another waited %v", many, waited)
			})
		})
	}
}

// burst returns how long a message of one organisation waits behind many messages of another. The lone message is sent
// after the workers have started on the backlog.
func burst(t *testing.T, s *source, many int, takes time.Duration, isFair bool) time.Duration {
	t.Helper()
	quiet, handled := organisation("2"), make(chan time.Time, 1)
	random, mu := rand.New(rand.NewPCG(1, 1)), sync.Mutex{}
	s.handle = func(_ context.Context, i due.Item) {
		if i.Tenant == quiet {
			handled <- time.Now()
		}
		mu.Lock()
		long := around(random, takes)
		mu.Unlock()
		<-time.After(long)
	}
	s.open(t, isFair)
	messages := queue.NewDeliveries(s.queue, s.url)
	var senders errgroup.Group
	senders.SetLimit(2)
	for range many {
		senders.Go(func() error { return messages.EnqueueEvent(t.Context(), organisation("1"), ids.Random()) })
	}
	expect.NoError(t, senders.Wait())
	s.start(t)
	<-time.After(300 * time.Millisecond)
	asked := time.Now()
	expect.NoError(t, messages.EnqueueEvent(t.Context(), quiet, ids.Random()))
	waited := (<-handled).Sub(asked)
	s.end()
	return waited
}
