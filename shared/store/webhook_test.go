package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/webhook"
)

func TestAnEventIsCreatedOnceAndReadBack(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	want := eventOf(tenant, eventID)
	must(t, s.work.CreateEvent(t.Context(), want))
	wantConflict(t, "creating it again", s.work.CreateEvent(t.Context(), want))
	got, err := s.work.Event(t.Context(), tenant, eventID)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestAnEventFansOutOnce(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	event := eventOf(tenant, eventID)
	must(t, s.work.CreateEvent(t.Context(), event))
	deliveries := make([]webhook.Delivery, 3)
	for i := range deliveries {
		deliveries[i] = deliveryOf(tenant)
		deliveries[i].ID = fmt.Sprintf("d0000000-0000-4000-8000-00000000000%d", i)
	}
	if won := race(t, 10, func(ctx context.Context, _ int) error { return s.work.FanOut(ctx, event, deliveries) }); won != 1 {
		t.Errorf("%d of 10 fan-outs won, want 1", won)
	}
	got, err := s.work.Event(t.Context(), tenant, eventID)
	must(t, err)
	if !got.Settled {
		t.Error("the event is not settled")
	}
	for _, d := range deliveries {
		// Nobody may claim while the fan-out's own attempt is under way.
		_, err := s.work.ClaimDelivery(t.Context(), tenant, d.ID, d.LeaseUntil, d.LeaseUntil.Add(time.Minute))
		wantConflict(t, "a claim in the last moment of the first lease", err)
	}
	wantConflict(t, "a second fan-out to others", s.work.FanOut(t.Context(), event, nil))
	none := eventOf(tenant, "e0000000-0000-4000-8000-000000000007")
	wantConflict(t, "an event that does not exist", s.work.FanOut(t.Context(), none, nil))
	must(t, s.work.CreateEvent(t.Context(), none))
	if err := s.work.FanOut(t.Context(), none, nil); err != nil {
		t.Errorf("an event that nobody wants: %v", err)
	}
}

func TestAFanOutOverADeliveryThatExistsSettlesNothing(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	taken := s.fanOut(t, tenant)
	other := eventOf(tenant, "e0000000-0000-4000-8000-000000000002")
	must(t, s.work.CreateEvent(t.Context(), other))
	wantConflict(t, "FanOut", s.work.FanOut(t.Context(), other, []webhook.Delivery{taken}))
	got, err := s.work.Event(t.Context(), tenant, other.ID)
	must(t, err)
	if got.Settled {
		t.Error("the event is settled although its delivery was not stored")
	}
}

func TestAScheduledDeliveryIsClaimedWhenDueByOneWorker(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	d := s.fanOut(t, tenant)
	next := now.Add(5 * time.Minute)
	d.Status, d.Attempt, d.NextAt, d.DueAt = webhook.Scheduled, 2, next, next.Add(30*time.Second)
	must(t, s.work.SettleDelivery(t.Context(), d, webhook.Attempt{Number: 1, At: now, Status: 503}))

	_, err := s.work.ClaimDelivery(t.Context(), tenant, delivID, next.Add(-time.Microsecond), next.Add(time.Minute))
	wantConflict(t, "a claim before it is due", err)
	if won := race(t, 10, func(ctx context.Context, _ int) error {
		got, err := s.work.ClaimDelivery(ctx, tenant, delivID, next, next.Add(time.Minute))
		if err != nil {
			return err
		}
		want := d
		want.Status, want.Fence, want.LeaseUntil, want.DueAt = webhook.InFlight, 2, next.Add(time.Minute), next.Add(time.Minute)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("claimed delivery (-want +got):\n%s", diff)
		}
		return nil
	}); won != 1 {
		t.Errorf("%d of 10 claims won, want 1", won)
	}
}

func TestAnOldClaimSettlesNothing(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	old := s.fanOut(t, tenant)
	later := old.LeaseUntil.Add(time.Second)
	current, err := s.work.ClaimDelivery(t.Context(), tenant, delivID, later, later.Add(time.Minute))
	must(t, err)
	if current.Attempt != 1 {
		t.Errorf("attempt = %d, want 1: a claim that ended is our own fault", current.Attempt)
	}

	before := s.writes.Load()
	old.Status, old.DueAt = webhook.Delivered, time.Time{}
	wantConflict(t, "the old claim", s.work.SettleDelivery(t.Context(), old, webhook.Attempt{Number: 1, At: later}))
	if after := s.writes.Load(); after != before {
		t.Errorf("an old claim changed rows: %d writes", after-before)
	}
	current.Status, current.DueAt = webhook.Delivered, time.Time{}
	attempt := webhook.Attempt{
		Number: 1, Trigger: webhook.ByHand, At: later, Latency: 120 * time.Millisecond, Status: 200, SealedBody: []byte("sealed"),
		RequestHeader: map[string]string{"Webhook-Id": "e"}, ResponseHeader: map[string]string{"Server": "s"},
	}
	must(t, s.work.SettleDelivery(t.Context(), current, attempt))
	wantConflict(t, "settling twice", s.work.SettleDelivery(t.Context(), current, attempt))
	_, err = s.work.ClaimDelivery(t.Context(), tenant, delivID, later.Add(time.Hour), later.Add(2*time.Hour))
	wantConflict(t, "a claim of a delivered one", err)

	log, err := s.db.Query(t.Context(), &dynamodb.QueryInput{
		TableName:              new(s.names["WorkTable"]),
		KeyConditionExpression: new("pk = :pk AND begins_with(sk, :att)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk":  &types.AttributeValueMemberS{Value: tenant.Key() + "#DELIV#" + delivID},
			":att": &types.AttributeValueMemberS{Value: "ATT#"},
		},
	})
	must(t, err)
	want := []map[string]any{{
		"pk": tenant.Key() + "#DELIV#" + delivID, "sk": "ATT#000002", "attempt": "number 1", "at": "2026-03-04T05:07:08.123456Z",
		"latency_ms": "number 120", "http_status": "number 200", "response": []byte("sealed"), "ttl": "number 1773896828",
		"attempt_trigger": "manual", "request_header": `{"Webhook-Id":"e"}`, "response_header": `{"Server":"s"}`,
	}}
	got := make([]map[string]any, 0, len(log.Items))
	for _, row := range log.Items {
		got = append(got, plain(row))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("delivery log (-want +got):\n%s", diff)
	}
}
