package webhook_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

var errCrash = errors.New("the worker crashed")

// plainVault stores values unencrypted.
type plainVault struct{}

func (plainVault) Seal(_ context.Context, _ org.Tenant, _ string, plain []byte) ([]byte, error) {
	return slices.Clone(plain), nil
}

func (plainVault) Open(_ context.Context, _ org.Tenant, _ string, sealed []byte) ([]byte, error) {
	return sealed, nil
}

// trial is one run of the property test: workers with tables, a clock, and receivers with arbitrary behaviour. Only one
// worker call runs at a time; it is suspended while a receiver delays its response.
type trial struct {
	*rapid.T

	store  store.Webhooks
	log    store.DeliveryLog
	events []string
	seen   []webhook.Delivery
	worker webhook.Worker
	now    time.Time
	calm   bool
	ended  map[string]webhook.DeliveryStatus
	said   map[string]string // event bodies, keyed by event ID
	wrong  string            // violation found while handling a POST; only the test's own goroutine may fail the test

	mu          sync.Mutex // guards the fields below, because a worker calls DynamoDB concurrently
	isWorking   bool       // whether a worker call is running
	callsLeft   int        // number of DynamoDB calls after which the running worker call crashes
	takesEffect bool       // whether the DynamoDB call before a crash takes effect

	parked []chan webhook.Answer
	yield  chan struct{} // receives a value when the running worker call is suspended or has ended
}

func newTrial(tb testing.TB, t *rapid.T) *trial {
	tb.Helper()
	r := &trial{
		T: t, callsLeft: 100, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), yield: make(chan struct{}),
		ended: map[string]webhook.DeliveryStatus{}, said: map[string]string{},
	}
	made := tables.New(tb, r.around)
	r.log = store.DeliveryLog{DB: made.DB, Table: made.Name("WorkTable")}
	r.store = store.NewWebhooks(
		store.Work{DB: made.DB, Table: made.Name("WorkTable")},
		store.Control{DB: made.DB, Table: made.Name("ControlTable")},
	)
	clock := func() time.Time { return r.now }
	editor := webhook.Editor{
		Own: ownhosts.Own(), Vault: plainVault{}, Reach: safehttp.Options{},
		Random: rand.Reader, Now: clock,
	}
	// If there is only one subscription, POSTs are not concurrent, so the same random values produce the same outcome.
	s, _, err := editor.Create(context.Background(),
		webhook.Draft{ID: "s1", Tenant: tenant, URL: "https://s1.example", Rate: 1})
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

func (r *trial) Post(ctx context.Context, _ string, header map[string]string, body []byte) (webhook.Answer, error) {
	id := header["Webhook-Id"]
	if said, ok := r.said[id]; ok && said != string(body) || !slices.Contains(r.events, id) {
		r.wrong = "event " + id + " tells something else"
	}
	r.said[id] = string(body)
	r.isWorking = false
	if all, err := r.store.Subscriptions(context.WithoutCancel(ctx), tenant); err != nil || all[0].Disabled {
		r.wrong = "a disabled subscription was sent event " + id
	}
	resume := make(chan webhook.Answer)
	r.parked = append(r.parked, resume)
	r.yield <- struct{}{}
	return <-resume, nil
}

// EnqueueDelivery discards every message; step sends messages at arbitrary times instead.
func (r *trial) EnqueueDelivery(context.Context, org.Tenant, string, time.Duration) error {
	return nil
}

func (r *trial) NotifyFailing(context.Context, webhook.Subscription, webhook.Health) error {
	return r.tell()
}

func (r *trial) NotifyDisabled(context.Context, webhook.Subscription, webhook.Reason, webhook.Health, time.Time) error {
	return r.tell()
}

// fate chooses the DynamoDB call at which the resumed worker call crashes. Most worker calls don't crash.
func (r *trial) fate() {
	callsLeft, takesEffect := 100, false
	if !r.calm && rapid.IntRange(0, 2).Draw(r.T, "crash") == 0 {
		callsLeft = rapid.IntRange(0, 6).Draw(r.T, "after calls")
		takesEffect = rapid.Bool().Draw(r.T, "takes effect")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isWorking, r.callsLeft, r.takesEffect = true, callsLeft, takesEffect
}

func (r *trial) rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isWorking = false
}

// spend counts a DynamoDB call. It reports whether the call takes effect and whether the caller gets a response.
func (r *trial) spend() (isAnswered, takesEffect bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isWorking {
		return true, true
	}
	r.callsLeft--
	return r.callsLeft >= 0, r.callsLeft >= 0 || r.callsLeft == -1 && r.takesEffect
}

// around wraps the handler of DynamoDB calls so that the worker can crash at any call.
func (r *trial) around(next wire.Handler) wire.Handler {
	return func(out http.ResponseWriter, in *http.Request, c wire.Call) {
		isAnswered, takesEffect := r.spend()
		if isAnswered {
			next(out, in, c)
			return
		}
		if takesEffect {
			next(httptest.NewRecorder(), in, c)
		}
		wire.WriteJSONError(out, "1.0", wire.Fail("AccessDeniedException", "the worker crashed"))
	}
}

// tell simulates a notification to the owner, during which the worker may crash.
func (r *trial) tell() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.callsLeft--; r.callsLeft < 0 {
		return errCrash
	}
	return nil
}

// run starts a worker call and returns when it is parked or has ended.
func (r *trial) run(call func() error) {
	r.fate()
	go func() {
		_ = call() // all errors are simulated crashes
		r.yield <- struct{}{}
	}()
	<-r.yield
	r.rest()
}

// resume makes one of the waiting receivers respond.
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
	r.rest()
}

// step simulates one event: a late, early or duplicate message, a response, or the passing of time.
func (r *trial) step() {
	switch rapid.IntRange(0, 4).Draw(r.T, "step") {
	case 0:
		r.deliver(rapid.SampledFrom(r.events).Draw(r.T, "event"))
	case 1:
		if len(r.seen) > 0 {
			r.retry(rapid.SampledFrom(r.seen).Draw(r.T, "delivery").ID)
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

func (r *trial) sweep(until time.Time) {
	if len(r.seen) < len(r.events) { // The transaction that creates deliveries also marks their event as fanned out.
		for _, id := range r.events {
			if !slices.ContainsFunc(r.seen, func(d webhook.Delivery) bool { return d.EventID == id }) {
				r.deliver(id)
			}
		}
		r.look()
	}
	for _, d := range r.seen {
		if !d.DueAt.IsZero() && !d.DueAt.After(until) {
			r.retry(d.ID)
		}
	}
}

func (r *trial) look() {
	r.seen = r.seen[:0]
	for _, id := range r.events {
		d, err := r.store.Delivery(context.Background(), tenant, webhook.DeliveryID(id, "s1"))
		switch {
		case err == nil:
			r.seen = append(r.seen, d)
		case !errors.Is(err, fault.NotFound):
			r.Fatal(err)
		}
	}
}

func (r *trial) check() {
	if r.wrong != "" {
		r.Fatal(r.wrong)
	}
	r.look()
	for _, d := range r.seen {
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
	}
}

// checkAttempts checks that each delivery's attempts are numbered without gaps.
func (r *trial) checkAttempts() {
	for _, d := range r.seen {
		attempts, err := r.log.Attempts(context.Background(), tenant, d.ID, 20)
		if err != nil || len(attempts) > 10 {
			r.Fatalf("%d attempts of %s, %v", len(attempts), d.ID, err)
		}
		for i, a := range attempts {
			if a.Number != i+1 {
				r.Fatalf("attempt row %d of %s has number %d", i+1, d.ID, a.Number)
			}
		}
	}
}

// inBubble is a test in a testing/synctest bubble, where rapid must not read the test's deadline.
type inBubble struct{ testing.TB }

// TestDeliveryEndsOnceDespiteCrashes runs in a bubble whose clock stops while a receiver delays its response, so no
// POST counts as slow.
func TestDeliveryEndsOnceDespiteCrashes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { rapid.Check(inBubble{t}, func(rt *rapid.T) { tryCrashes(t, rt) }) })
}

// tryCrashes emits events and checks that each delivery ends exactly once, regardless of which calls crash.
func tryCrashes(t *testing.T, rt *rapid.T) {
	t.Helper()
	r := newTrial(t, rt)
	for i := range rapid.IntRange(1, 3).Draw(rt, "events") {
		event, err := webhook.NewEvent(tenant, webhook.TestEvent, fmt.Sprint("subject", i), 0, r.now, webhook.Test{})
		if err != nil {
			rt.Fatal(err)
		}
		if err := r.store.CreateEvent(context.Background(), event); err != nil {
			rt.Fatal(err)
		}
		r.events = append(r.events, event.ID)
	}
	for range rapid.IntRange(0, 120).Draw(rt, "steps") {
		r.step()
	}
	// From this point on, only the sweeper completes deliveries.
	r.calm = true
	for range 200 {
		for len(r.parked) > 0 {
			r.resume()
		}
		r.now = r.now.Add(2 * time.Hour)
		r.sweep(r.now)
		r.check()
		if len(r.ended) == len(r.events) && len(r.parked) == 0 { // no further delivery is due, now or later
			r.checkAttempts()
			return
		}
	}
	rt.Fatalf("%d deliveries of %d events are over", len(r.ended), len(r.events))
}
