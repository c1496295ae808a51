package webhook_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

const slowAtOnce = 50

// crowd sends many deliveries to a webhook at once.
type crowd struct {
	world   *world
	worker  webhook.Worker
	running sync.WaitGroup

	mu        sync.Mutex
	now, most int
	first     map[string]int
}

func newCrowd(t *testing.T, answers func() (time.Duration, webhook.Answer)) *crowd {
	t.Helper()
	c := &crowd{world: newWorld(t), first: map[string]int{}}
	c.world.create(t, webhook.Draft{})
	c.worker = c.world.worker()
	c.worker.Queue, c.worker.Poster = c, poster(func(header map[string]string) webhook.Answer {
		c.mu.Lock()
		c.first[header["Webhook-Id"]]++
		c.now++
		c.most = max(c.most, c.now)
		c.mu.Unlock()
		takes, answer := answers()
		<-time.After(takes)
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
		return answer
	})
	return c
}

type poster func(header map[string]string) webhook.Answer

func (p poster) Post(_ context.Context, _ string, header map[string]string, _ []byte) (webhook.Answer, error) {
	return p(header), nil
}

// EnqueueDelivery supports only whole seconds, as SQS does.
func (c *crowd) EnqueueDelivery(ctx context.Context, tenant org.Tenant, id string, delay time.Duration) error {
	c.running.Go(func() {
		<-time.After((delay + time.Second - 1).Truncate(time.Second))
		_ = c.worker.RetryDelivery(ctx, tenant, id) // A failure leaves a delivery incomplete, which the test detects.
	})
	return nil
}

// deliver creates events at the given rate per second until the given number is reached.
func (c *crowd) deliver(t *testing.T, events, rate int) {
	t.Helper()
	for n := range events {
		id := c.world.emitNth(t, n).ID
		c.running.Go(func() { expect.NoError(t, c.worker.DeliverEvent(t.Context(), tenant, id)) })
		<-time.After(time.Second / time.Duration(rate))
	}
}

// attempts returns the number of events with a single attempt and the number with several.
func (c *crowd) attempts() (once, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.first {
		if n == 1 {
			once++
		} else {
			more++
		}
	}
	return once, more
}

// TestSlowWebhookReceivesEachEventOnce checks that a slow receiver has enough time to respond and receives every event
// exactly once.
func TestSlowWebhookReceivesEachEventOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		takes, within time.Duration
		isSlow        bool
	}{
		"in time":   {900 * time.Millisecond, 6 * time.Second, false},
		"slow":      {1500 * time.Millisecond, 30 * time.Second, true},
		"very slow": {10 * time.Second, 90 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t, func() (time.Duration, webhook.Answer) { return test.takes, webhook.Answer{Status: 200} })
				began := time.Now()
				const events = 200
				c.deliver(t, events, 40)
				c.running.Wait()
				took := time.Since(began)
				if once, more := c.attempts(); once != events || more != 0 || took > test.within {
					t.Errorf("%d events arrived once and %d more often, within %v; want %d and within %v", once, more, took,
						events, test.within)
				}
				if most := 40 + slowAtOnce + 5; c.most > most { // 40 attempts start before the webhook is known to be slow
					t.Errorf("%d were under way at once, want at most %d", c.most, most)
				}
				if h := c.world.subscription(t).Health; h.SlowUntil.IsZero() == test.isSlow || test.isSlow &&
					h.Answers != test.takes {
					t.Errorf("health = %+v", h)
				}
			})
		})
	}
}

// TestHangingWebhookCannotOccupyReservedAttempts checks that a receiver gets none of the attempts whose slots were
// reserved before it started to hang. Once the receiver responds again, the waiting events are delivered within two
// minutes.
func TestHangingWebhookCannotOccupyReservedAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		works := began.Add(25 * time.Second)
		c := newCrowd(t, func() (time.Duration, webhook.Answer) {
			if time.Now().Before(works) {
				return 30 * time.Second, webhook.Answer{Failure: webhook.FailedTimeout}
			}
			return 0, webhook.Answer{Status: 200}
		})
		const events = 200
		c.deliver(t, events, 5000)
		<-time.After(time.Until(works))
		if once, more := c.attempts(); more != 0 || once < 50 || once > 50+50+slowAtOnce+5 {
			t.Errorf("%d attempts while it hung, %d events more than once", once, more)
		}
		<-time.After(3 * time.Minute)
		if once, more := c.attempts(); once+more != events {
			t.Errorf("%d of %d have arrived", once+more, events)
		}
		c.running.Wait()
	})
}
