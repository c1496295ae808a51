package webhook_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recordbridge/shared/org"
	"recordbridge/shared/webhook"
)

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

	store  *memory
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
		T: t, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), yield: make(chan struct{}),
		ended: map[string]webhook.DeliveryStatus{}, said: map[string]string{},
		store: &memory{
			events: map[string]webhook.Event{}, deliveries: map[string]webhook.Delivery{}, attempts: map[string][]webhook.Attempt{},
		},
	}
	r.store.crash = r.crash
	clock := func() time.Time { return r.now }
	editor := webhook.Editor{Vault: plainVault{}, Random: rand.Reader, Now: clock}
	// One subscription: what a fan-out posts at the same time would not come out the same for the same draws.
	s, _, err := editor.Create(context.Background(), webhook.Draft{ID: "s1", Tenant: tenant, URL: "https://s1.example", Rate: 1})
	if err != nil {
		t.Fatal(err)
	}
	r.store.subscriptions = []webhook.Subscription{s}
	r.worker = webhook.Worker{
		Store: r.store, Conditions: r.store, Notices: r.store, Secrets: plainVault{}, Poster: r, Nudger: r, Pacer: &webhook.Pacer{},
		Now: clock, Luck: func() float64 { return 0.5 }, Lease: lease,
	}
	return r
}

// Post implements webhook.Poster.
func (r *trial) Post(_ context.Context, _ string, header map[string]string, body []byte) (webhook.Answer, error) {
	id := header["Webhook-Id"]
	if said, ok := r.said[id]; ok && said != string(body) || r.store.events[id].ID != id {
		r.wrong = "event " + id + " tells something else"
	}
	r.said[id] = string(body)
	if r.store.subscriptions[0].Disabled {
		r.wrong = "a disabled subscription was sent event " + id
	}
	resume := make(chan webhook.Answer)
	r.parked = append(r.parked, resume)
	r.yield <- struct{}{}
	return <-resume, nil
}

// NudgeDelivery implements webhook.Nudger: every nudge is lost, and step sends others at any time.
func (r *trial) NudgeDelivery(context.Context, org.Tenant, string, string, time.Duration) error {
	return nil
}

// fate draws with which call of the store the call of a worker that goes on now crashes: most do not.
func (r *trial) fate() {
	r.callsLeft = 100
	if !r.calm && rapid.IntRange(0, 2).Draw(r.T, "crash") == 0 {
		r.callsLeft = rapid.IntRange(0, 6).Draw(r.T, "after calls")
		r.takesEffect = rapid.Bool().Draw(r.T, "takes effect")
	}
}

// crash tells whether a call of the store is the worker's last.
func (r *trial) crash() (before, after bool) {
	r.callsLeft--
	return r.callsLeft == -1 && !r.takesEffect, r.callsLeft == -1 && r.takesEffect
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
		r.deliver(rapid.SampledFrom(slices.Sorted(maps.Keys(r.store.events))).Draw(r.T, "event"))
	case 1:
		if ids := slices.Sorted(maps.Keys(r.store.deliveries)); len(ids) > 0 {
			r.retry(rapid.SampledFrom(ids).Draw(r.T, "delivery"))
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
	for _, id := range slices.Sorted(maps.Keys(r.store.events)) {
		if !r.store.events[id].Settled {
			r.deliver(id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.store.deliveries)) {
		if d := r.store.deliveries[id]; !d.DueAt.IsZero() && !d.DueAt.After(until) {
			r.retry(id)
		}
	}
}

func (r *trial) check() {
	if r.wrong != "" {
		r.Fatal(r.wrong)
	}
	for id, d := range r.store.deliveries {
		isOver := d.Status == webhook.Delivered || d.Status == webhook.Exhausted || d.Status == webhook.Held
		if was, ok := r.ended[id]; ok && was != d.Status {
			r.Fatalf("delivery %s was %s and is %s", id, was, d.Status)
		}
		if isOver != d.DueAt.IsZero() {
			r.Fatalf("delivery %s is %s and due at %v", id, d.Status, d.DueAt)
		}
		if isOver {
			r.ended[id] = d.Status
		}
		for i, a := range r.store.attempts[id] {
			if a.Number != i+1 || a.Number > 10 {
				r.Fatalf("attempt row %d of %s has number %d", i+1, id, a.Number)
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
			r.store.events[event.ID] = event
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
		if want := len(r.store.events); len(r.store.deliveries) != want || len(r.ended) != want {
			rt.Fatalf("%d deliveries, %d of them over, want %d", len(r.store.deliveries), len(r.ended), want)
		}
	})
}
