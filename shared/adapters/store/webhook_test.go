package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/webhook"
)

// TestRecordAttemptRejectsAttemptOfExpiredClaim checks that only attempts recorded under the current claim are logged.
// The tests in package storetest check which claims may record attempts.
func TestRecordAttemptRejectsAttemptOfExpiredClaim(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	old := s.fanOut(t, tenant)
	later := old.LeaseUntil.Add(time.Second)
	current, err := s.deliveries.ClaimDelivery(t.Context(), tenant, delivID, later, later.Add(time.Minute))
	expect.NoError(t, err)
	before := s.writes.Load()
	old.Status, old.DueAt = webhook.Delivered, time.Time{}
	expect.Conflict(t, "the old claim",
		s.deliveries.RecordAttempt(t.Context(), old, webhook.Attempt{Number: 1, At: later}))
	if after := s.writes.Load(); after != before {
		t.Errorf("an old claim changed rows: %d writes", after-before)
	}
	current.Status, current.DueAt = webhook.Delivered, time.Time{}
	attempt := webhook.Attempt{
		Number: 1, Trigger: webhook.ByHand, At: later, Latency: 120 * time.Millisecond, Status: 200,
		SealedBody:    []byte("sealed"),
		RequestHeader: map[string]string{"Webhook-Id": "e"}, ResponseHeader: map[string]string{"Server": "s"},
	}
	expect.NoError(t, s.deliveries.RecordAttempt(t.Context(), current, attempt))

	log, err := s.db.Query(t.Context(), &dynamodb.QueryInput{
		TableName:              new(s.names["WorkTable"]),
		KeyConditionExpression: new("pk = :pk AND begins_with(sk, :att)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk":  &types.AttributeValueMemberS{Value: tenant.Key() + "#DELIV#" + delivID},
			":att": &types.AttributeValueMemberS{Value: "ATT#"},
		},
	})
	expect.NoError(t, err)
	want := []map[string]any{{
		"pk": tenant.Key() + "#DELIV#" + delivID, "sk": "ATT#000002", "attempt": "number 1",
		"at":         "2026-03-04T05:07:08.123456Z",
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

func TestRestartDeliveryKeepsDeliveryAndEventForItsRetries(t *testing.T) {
	t.Parallel()
	s := newStores(t)
	d := s.fanOut(t, tenant)
	d.Status, d.DueAt = webhook.Exhausted, time.Time{}
	expect.NoError(t, s.deliveries.RecordAttempt(t.Context(), d, webhook.Attempt{Number: 1, At: now}))
	const kept = 15 * 24 * time.Hour
	d.Status, d.NextAt, d.DueAt = webhook.Scheduled, now.Add(14*24*time.Hour), now.Add(14*24*time.Hour)
	expect.NoError(t, s.deliveries.RestartDelivery(t.Context(), d))
	for _, pk := range []string{"#DELIV#" + delivID, "#EVENT#" + eventID} {
		rows, err := s.db.Query(t.Context(), &dynamodb.QueryInput{
			TableName:              new(s.names["WorkTable"]),
			KeyConditionExpression: new("pk = :pk"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":pk": &types.AttributeValueMemberS{Value: tenant.Key() + pk},
			},
		})
		expect.NoError(t, err)
		want := fmt.Sprintf("number %d", d.NextAt.Add(kept).Unix())
		if len(rows.Items) == 0 || !slices.ContainsFunc(rows.Items, func(row map[string]types.AttributeValue) bool {
			return plain(row)["ttl"] == want
		}) {
			t.Errorf("%s: rows %v, want one with ttl %s", pk, rows.Items, want)
		}
	}
}
