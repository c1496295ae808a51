package webhook_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recordbridge/shared/org"
	"recordbridge/shared/safehttp"
	"recordbridge/shared/testkit/memory"
	"recordbridge/shared/testkit/ownhosts"
	"recordbridge/shared/webhook"
)

var errCrash = errors.New("the worker crashed")

// plainVault seals nothing, so that the property test needs no KMS.
type plainVault struct{}

func (plainVault) Seal(_ context.Context, _ org.Tenant, _ string, plain []byte) ([]byte, error) {
	return slices.Clone(plain), nil
}

func (plainVault) Open(_ context.Context, _ org.Tenant, _ string, sealed []byte) ([]byte, error) {
	return sealed, nil
}

// trial is one run of the property test: workers over a memory, a clock, and receivers that do as they like. One call of
// a worker runs at a time; while a receiver takes its time with a POST, the call is parked and others run.
type trial struct {
	*rapid.T

	store  *memory.Webhooks
	worker webhook.Worker
	now    time.Time
	calm   bool
	ended  map[string]webhook.DeliveryStatus
	said   map[string]string // by event id: the body
	wrong  string            // what a POST has found; a test is failed by its own goroutine only

	callsLeft   int  // of the store, before the running call crashes
	takesEffect bool // the last one does

	parked []chan webhook.Answer
	yield  chan struct{} // the running call is parked or has ended
}

func newTrial(t *rapid.T) *trial {
	r := &trial{
		T: t, callsLeft: 100, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), yield: make(chan struct{}),
		ended: map[string]webhook.DeliveryStatus{}, said: map[string]string{},
	}
	r.store = &memory.Webhooks{Around: r.crash}
	clock := func() time.Time { return r.now }
	editor := webhook.Editor{Own: ownhosts.Own(), Vault: plainVault{}, Reach: safehttp.Options{}, Random: rand.Reader, Now: clock}
	// One subscription: what a fan-out posts at the same time would not come out the same for the same draws.
	s, _, err := editor.Create(context.Background(), webhook.Draft{ID: "s1", Tenant: tenant, URL: "https://s1.example", Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.CreateSubscription(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	r.worker = webhook.Worker{
		Store: r.store, Health: r.store, Owners: r, Secrets: plainVault{}, Poster: r, Queue: r,
		Pacer: webhook.NewPacer(clock),
		Now:   clock, Jitter: func() float64 { return 0.5 }, Lease: lease,
	}
	return r
}

// Post implements webhook.Poster.
func (r *trial) Post(_ context.Context, _ string, header map[string]string, body []byte) (webhook.Answer, error) {
	id := header["Webhook-Id"]
	isEvent := slices.ContainsFunc(r.store.Events(tenant), func(e webhook.Event) bool { return e.ID == id })
	if said, ok := r.said[id]; ok && said != string(body) || !isEvent {
		r.wrong = "event " + id + " tells something else"
	}
	r.said[id] = string(body)
	if r.store.Subscription(tenant, "s1").Disabled {
		r.wrong = "a disabled subscription was sent event " + id
	}
	resume := make(chan webhook.Answer)
	r.parked = append(r.parked, resume)
	r.yield <- struct{}{}
	return <-resume, nil
}

// EnqueueDelivery implements webhook.Queue: every message is lost, and step sends others at any time.
func (r *trial) EnqueueDelivery(context.Context, org.Tenant, string, time.Duration) error {
	return nil
}

// TellFailing implements webhook.Owners.
func (r *trial) TellFailing(context.Context, webhook.Subscription, webhook.Health) error {
	return r.crash("TellFailing", func() error { return nil })
}

// TellDisabled implements webhook.Owners.
func (r *trial) TellDisabled(context.Context, webhook.Subscription, webhook.Reason, webhook.Health, time.Time) error {
	return r.crash("TellDisabled", func() error { return nil })
}

// fate draws with which call of the store the call of a worker that goes on now crashes: most do not.
func (r *trial) fate() {
	r.callsLeft = 100
	if !r.calm && rapid.IntRange(0, 2).Draw(r.T, "crash") == 0 {
		r.callsLeft = rapid.IntRange(0, 6).Draw(r.T, "after calls")
		r.takesEffect = rapid.Bool().Draw(r.T, "takes effect")
	}
}

// crash runs a call of the store, which may be the worker's last.
func (r *trial) crash(_ string, effect func() error) error {
	r.callsLeft--
	isLast := r.callsLeft == -1
	if isLast && !r.takesEffect {
		return errCrash
	}
	if err := effect(); err != nil {
		return err
	}
	if isLast {
		return errCrash
	}
	return nil
}

// run starts a call of a worker and returns when it is parked or has ended.
func (r *trial) run(call func() error) {
	r.fate()
	go func() {
		_ = call() // an error is a crash that was drawn
		r.yield <- struct{}{}
	}()
	<-r.yield
}

// resume lets one of the receivers answer.
func (r *trial) resume() {
	if len(r.parked) == 0 {
		return
	}
	i := rapid.IntRange(0, len(r.parked)-1).Draw(r.T, "receiver")
	answers := []webhook.Answer{
		{Status: 200},
		{Status: 500},
		{Status: 500},
		{Status: 500},
		{Status: 429, RetryAfter: "7"},
		{Failure: webhook.FailedTimeout},
		{Status: 410},
		{Status: 500, Control: "abort-message"},
		{Failure: webhook.FailedBlocked},
	}
	weights := []int{0, 1, 1, 1, 1, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8}
	receiver := r.parked[i]
	r.parked = slices.Delete(r.parked, i, i+1)
	r.fate()
	receiver <- answers[rapid.SampledFrom(weights).Draw(r.T, "answer")]
	<-r.yield
}

// step is one thing that happens: a message, late, early or doubled, an answer, or that time passes.
func (r *trial) step() {
	switch rapid.IntRange(0, 4).Draw(r.T, "step") {
	case 0:
		r.deliver(rapid.SampledFrom(r.store.Events(tenant)).Draw(r.T, "event").ID)
	case 1:
		if all := r.store.Deliveries(tenant); len(all) > 0 {
			r.retry(rapid.SampledFrom(all).Draw(r.T, "delivery").ID)
		}
	case 2:
		r.now = r.now.Add(rapid.SampledFrom([]time.Duration{
			time.Second, 6 * time.Second, time.Minute, 10 * time.Minute, 3 * time.Hour, 25 * time.Hour,
		}).Draw(r.T, "time"))
	case 3:
		r.resume()
	case 4:
		r.sweep(r.now)
	}
	r.check()
}

func (r *trial) deliver(id string) {
	r.run(func() error { return r.worker.DeliverEvent(context.Background(), tenant, id) })
}

func (r *trial) retry(id string) {
	r.run(func() error { return r.worker.RetryDelivery(context.Background(), tenant, id) })
}

// sweep looks at what is due, as the sweeper has it done.
func (r *trial) sweep(until time.Time) {
	for _, event := range r.store.Events(tenant) {
		if !event.FannedOut {
			r.deliver(event.ID)
		}
	}
	for _, d := range r.store.Deliveries(tenant) {
		if !d.DueAt.IsZero() && !d.DueAt.After(until) {
			r.retry(d.ID)
		}
	}
}

func (r *trial) check() {
	if r.wrong != "" {
		r.Fatal(r.wrong)
	}
	for _, d := range r.store.Deliveries(tenant) {
		isOver := d.Status == webhook.Delivered || d.Status == webhook.Exhausted || d.Status == webhook.Held
		if was, ok := r.ended[d.ID]; ok && was != d.Status {
			r.Fatalf("delivery %s was %s and is %s", d.ID, was, d.Status)
		}
		if isOver != d.DueAt.IsZero() {
			r.Fatalf("delivery %s is %s and due at %v", d.ID, d.Status, d.DueAt)
		}
		if isOver {
			r.ended[d.ID] = d.Status
		}
		for i, a := range r.store.Attempts(tenant, d.ID) {
			if a.Number != i+1 || a.Number > 10 {
				r.Fatalf("attempt row %d of %s has number %d", i+1, d.ID, a.Number)
			}
		}
	}
}

func TestWhateverCrashesADeliveryEndsOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := newTrial(rt)
		for i := range rapid.IntRange(1, 3).Draw(rt, "events") {
			event, err := webhook.NewEvent(tenant, webhook.TestEvent, fmt.Sprint("subject", i), 0, r.now, webhook.Test{})
			if err != nil {
				rt.Fatal(err)
			}
			if err := r.store.CreateEvent(context.Background(), event); err != nil {
				rt.Fatal(err)
			}
		}
		for range rapid.IntRange(0, 200).Draw(rt, "steps") {
			r.step()
		}
		// Whatever has happened, the sweeper alone brings every delivery to its end.
		r.calm = true
		for range 200 {
			for len(r.parked) > 0 {
				r.resume()
			}
			r.now = r.now.Add(2 * time.Hour)
			r.sweep(r.now)
		}
		r.check()
		want, made := len(r.store.Events(tenant)), len(r.store.Deliveries(tenant))
		if made != want || len(r.ended) != want {
			rt.Fatalf("%d deliveries, %d of them over, want %d", made, len(r.ended), want)
		}
	})
}
