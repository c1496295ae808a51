package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Webhooks is the store that webhook.Worker requires, plus methods with which the tests create and read its rows.
type Webhooks interface {
	webhook.Store
	webhook.HealthStore
	CreateEvent(ctx context.Context, event webhook.Event) error
	CreateSubscription(ctx context.Context, s webhook.Subscription) error
	Delivery(ctx context.Context, tenant org.Tenant, id string) (webhook.Delivery, error)
}

const (
	eventID    = "e0000000-0000-4000-8000-000000000001"
	deliveryID = "d0000000-0000-4000-8000-000000000001"
	hookID     = "f0000000-0000-4000-8000-000000000001"
)

// Deliveries tests a store against the requirements of webhook.Worker for events, deliveries and attempts. Every event,
// delivery or attempt must be created once, claimed by a single worker, and recorded only by the claim's holder.
func Deliveries(t *testing.T, open func(testing.TB) Webhooks) {
	t.Helper()
	run(t, open, map[string]func(subject[Webhooks]){
		"an event is created once and read back":                        eventOnce,
		"an event is its tenant's":                                      eventOfTenant,
		"an event fans out once":                                        fanOutOnce,
		"a fan-out over a delivery that exists does nothing":            fanOutWhole,
		"a scheduled delivery is claimed when it is due, by one worker": claimedWhenDue,
		"a claim is taken over when its lease has ended":                takenOver,
		"a parked delivery keeps its attempt":                           parked,
		"a delivery is its tenant's":                                    deliveryOfTenant,
	})
}

func eventOf(id string) webhook.Event {
	return webhook.Event{
		ID: id, Tenant: tenantA(), Type: webhook.TestEvent, Body: []byte(`{"hello":"world"}`),
		CreatedAt: now(),
	}
}

// deliveryOf returns a delivery in the state that follows a fan-out, with a lease of one minute.
func deliveryOf(id string) webhook.Delivery {
	until := now().Add(time.Minute)
	return webhook.Delivery{
		ID: id, Tenant: tenantA(), EventID: eventID, SubscriptionID: hookID,
		Status: webhook.InFlight, Attempt: 1, Fence: 1, Trigger: webhook.ByClock,
		NextAt: now(), LeaseUntil: until, DueAt: until, CreatedAt: now(),
	}
}

// fannedOut stores an event with a single delivery.
func fannedOut(t *testing.T, s Webhooks) webhook.Delivery {
	t.Helper()
	d := deliveryOf(deliveryID)
	expect.NoError(t, s.CreateEvent(t.Context(), eventOf(eventID)))
	expect.NoError(t, s.FanOut(t.Context(), eventOf(eventID), []webhook.Delivery{d}))
	return d
}

func eventOnce(c subject[Webhooks]) {
	t, s := c.t, c.store
	want := eventOf(eventID)
	expect.NoError(t, s.CreateEvent(t.Context(), want))
	expect.Conflict(t, "creating it again", s.CreateEvent(t.Context(), want))
	got, err := s.Event(t.Context(), tenantA(), eventID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	_, err = s.Event(t.Context(), tenantA(), "e0000000-0000-4000-8000-000000000009")
	expect.NotFound(t, "an event that is not there", err)
}

func eventOfTenant(c subject[Webhooks]) {
	t, s := c.t, c.store
	expect.NoError(t, s.CreateEvent(t.Context(), eventOf(eventID)))
	for _, other := range others() {
		_, err := s.Event(t.Context(), other, eventID)
		expect.NotFound(t, "reading it as another", err)
		foreign := eventOf(eventID)
		foreign.Tenant = other
		expect.Conflict(t, "fanning it out as another", s.FanOut(t.Context(), foreign, nil))
		expect.NoError(t, s.CreateEvent(t.Context(), foreign))
	}
}

func fanOutOnce(c subject[Webhooks]) {
	t, s := c.t, c.store
	event := eventOf(eventID)
	expect.NoError(t, s.CreateEvent(t.Context(), event))
	deliveries := make([]webhook.Delivery, 3)
	for i := range deliveries {
		deliveries[i] = deliveryOf(fmt.Sprintf("d0000000-0000-4000-8000-00000000000%d", i))
	}
	if won := expect.Winners(t, 10, func(ctx context.Context,
		_ int,
	) error {
		return s.FanOut(ctx, event, deliveries)
	}); won != 1 {
		t.Errorf("%d of 10 fan-outs won, want 1", won)
	}
	got, err := s.Event(t.Context(), tenantA(), eventID)
	expect.NoError(t, err)
	if !got.FannedOut {
		t.Error("the event is not fanned out")
	}
	for _, d := range deliveries {
		// Workers must not claim the delivery while the fan-out is making an attempt.
		_, err := s.ClaimDelivery(t.Context(), tenantA(), d.ID, d.LeaseUntil, d.LeaseUntil.Add(time.Minute))
		expect.Conflict(t, "a claim in the last moment of the first lease", err)
	}
	expect.Conflict(t, "a second fan-out to others", s.FanOut(t.Context(), event, nil))
	none := eventOf("e0000000-0000-4000-8000-000000000007")
	expect.Conflict(t, "an event that does not exist", s.FanOut(t.Context(), none, nil))
	expect.NoError(t, s.CreateEvent(t.Context(), none))
	if err := s.FanOut(t.Context(), none, nil); err != nil {
		t.Errorf("an event that nobody wants: %v", err)
	}
}

func fanOutWhole(c subject[Webhooks]) {
	t, s := c.t, c.store
	taken := fannedOut(t, s)
	other := eventOf("e0000000-0000-4000-8000-000000000002")
	expect.NoError(t, s.CreateEvent(t.Context(), other))
	fresh := deliveryOf("d0000000-0000-4000-8000-000000000002")
	expect.Conflict(t, "FanOut", s.FanOut(t.Context(), other, []webhook.Delivery{fresh, taken}))
	got, err := s.Event(t.Context(), tenantA(), other.ID)
	expect.NoError(t, err)
	if got.FannedOut {
		t.Error("the event is fanned out although its delivery was not stored")
	}
	_, err = s.Delivery(t.Context(), tenantA(), fresh.ID)
	expect.NotFound(t, "the delivery that was made with it", err)
}

func claimedWhenDue(c subject[Webhooks]) {
	t, s := c.t, c.store
	d := fannedOut(t, s)
	next := now().Add(5 * time.Minute)
	d.Status, d.Attempt, d.NextAt, d.DueAt = webhook.Scheduled, 2, next, next.Add(30*time.Second)
	expect.NoError(t, s.RecordAttempt(t.Context(), d, webhook.Attempt{
		Number: 1, At: now(), Status: 503, Failure: webhook.FailedStatus,
	}))
	d.LeaseUntil, d.LastStatus, d.LastFailure = time.Time{}, 503, webhook.FailedStatus
	wantDelivery(t, s, d)

	_, err := s.ClaimDelivery(t.Context(), tenantA(), deliveryID, next.Add(-time.Microsecond), next.Add(time.Minute))
	expect.Conflict(t, "a claim before it is due", err)
	want := d
	want.Status, want.Fence, want.LeaseUntil, want.DueAt = webhook.InFlight, 2, next.Add(time.Minute),
		next.Add(time.Minute)
	if won := expect.Winners(t, 10, func(ctx context.Context, _ int) error {
		got, err := s.ClaimDelivery(ctx, tenantA(), deliveryID, next, next.Add(time.Minute))
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("claimed delivery (-want +got):\n%s", diff)
		}
		return nil
	}); won != 1 {
		t.Errorf("%d of 10 claims won, want 1", won)
	}
	wantDelivery(t, s, want)
}

func takenOver(c subject[Webhooks]) {
	t, s := c.t, c.store
	old := fannedOut(t, s)
	later := old.LeaseUntil.Add(time.Second)
	current, err := s.ClaimDelivery(t.Context(), tenantA(), deliveryID, later, later.Add(time.Minute))
	expect.NoError(t, err)
	if current.Attempt != 1 {
		t.Errorf("attempt = %d, want 1: a claim that ended is our own fault", current.Attempt)
	}
	old.Status, old.DueAt = webhook.Delivered, time.Time{}
	expect.Conflict(t, "the old claim", s.RecordAttempt(t.Context(), old, webhook.Attempt{Number: 1, At: later}))
	expect.Conflict(t, "parking by the old claim", s.ParkDelivery(t.Context(), old))
	wantDelivery(t, s, current)

	current.Status, current.DueAt = webhook.Delivered, time.Time{}
	attempt := webhook.Attempt{Number: 1, At: later, Status: 200}
	expect.NoError(t, s.RecordAttempt(t.Context(), current, attempt))
	expect.Conflict(t, "recording twice", s.RecordAttempt(t.Context(), current, attempt))
	expect.Conflict(t, "parking afterwards", s.ParkDelivery(t.Context(), current))
	_, err = s.ClaimDelivery(t.Context(), tenantA(), deliveryID, later.Add(time.Hour), later.Add(2*time.Hour))
	expect.Conflict(t, "a claim of a delivered one", err)
}

func parked(c subject[Webhooks]) {
	t, s := c.t, c.store
	d := fannedOut(t, s)
	next := now().Add(time.Second)
	d.Status, d.NextAt, d.DueAt, d.Paced, d.Slowly = webhook.Scheduled, next, next, true, true
	expect.NoError(t, s.ParkDelivery(t.Context(), d))
	expect.Conflict(t, "parking twice", s.ParkDelivery(t.Context(), d))
	got, err := s.ClaimDelivery(t.Context(), tenantA(), deliveryID, next, next.Add(time.Minute))
	expect.NoError(t, err)
	want := d
	want.Status, want.Fence, want.LeaseUntil, want.DueAt = webhook.InFlight, 2, next.Add(time.Minute),
		next.Add(time.Minute)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claimed delivery (-want +got):\n%s", diff)
	}
	got.Status, got.DueAt = webhook.Held, time.Time{}
	expect.NoError(t, s.ParkDelivery(t.Context(), got))
	_, err = s.ClaimDelivery(t.Context(), tenantA(), deliveryID, next.Add(time.Hour), next.Add(2*time.Hour))
	expect.Conflict(t, "a claim of a held one", err)
}

func deliveryOfTenant(c subject[Webhooks]) {
	t, s := c.t, c.store
	d := fannedOut(t, s)
	later := d.LeaseUntil.Add(time.Second)
	for _, other := range others() {
		_, err := s.Delivery(t.Context(), other, d.ID)
		expect.NotFound(t, "reading it as another", err)
		_, err = s.ClaimDelivery(t.Context(), other, d.ID, later, later.Add(time.Minute))
		expect.Conflict(t, "claiming it as another", err)
		foreign := d
		foreign.Tenant, foreign.Status, foreign.DueAt = other, webhook.Delivered, time.Time{}
		expect.Conflict(t, "recording as another",
			s.RecordAttempt(t.Context(), foreign, webhook.Attempt{Number: 1, At: later}))
		expect.Conflict(t, "parking as another", s.ParkDelivery(t.Context(), foreign))
	}
	wantDelivery(t, s, d)
}

func wantDelivery(t *testing.T, s Webhooks, want webhook.Delivery) {
	t.Helper()
	got, err := s.Delivery(t.Context(), want.Tenant, want.ID)
	expect.NoError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("delivery (-want +got):\n%s", diff)
	}
}
