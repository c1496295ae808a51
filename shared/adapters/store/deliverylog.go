package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// DeliveryLog reads deliveries, their events and their attempts.
type DeliveryLog struct {
	DB    EventDB
	Table string // name of the Work table
}

// Deliveries implements deliverylog.Rows.
func (s DeliveryLog) Deliveries(ctx context.Context, tenant org.Tenant, ids []string) ([]webhook.Delivery, error) {
	rows, err := s.rows(ctx, tenant, due.Delivery, ids)
	if err != nil {
		return nil, err
	}
	deliveries := make([]webhook.Delivery, 0, len(ids))
	for _, id := range ids {
		if row, ok := rows[deliveryKey(tenant, id).pk]; ok {
			deliveries = append(deliveries, deliveryOf(tenant, id, row))
		}
	}
	return deliveries, nil
}

// Events implements deliverylog.Rows.
func (s DeliveryLog) Events(ctx context.Context, tenant org.Tenant, ids []string) (map[string]webhook.Event, error) {
	rows, err := s.rows(ctx, tenant, due.Event, ids)
	if err != nil {
		return nil, err
	}
	events := make(map[string]webhook.Event, len(rows))
	for _, id := range ids {
		if row, ok := rows[eventKey(tenant, id).pk]; ok {
			events[id] = webhook.Event{
				ID: id, Tenant: tenant, Type: webhook.Type(row.text("type")), Body: row.bytes("body"),
				CreatedAt: row.time("created_at"), FannedOut: row.flag("settled"),
			}
		}
	}
	return events, nil
}

// Attempts implements deliverylog.Rows.
func (s DeliveryLog) Attempts(ctx context.Context, tenant org.Tenant, deliveryID string,
	limit int,
) ([]webhook.Attempt, error) {
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.Table, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(false),
		Limit:                     aws.Int32(int32(limit)), //nolint:gosec // G115: limits are small
		KeyConditionExpression:    aws.String("pk = :pk AND begins_with(sk, :attempts)"),
		ExpressionAttributeValues: item{":pk": text(deliveryKey(tenant, deliveryID).pk), ":attempts": text(attemptLogPrefix)},
	})
	if err != nil {
		return nil, fmt.Errorf("query attempts: %w", err)
	}
	attempts := make([]webhook.Attempt, 0, len(out.Items))
	for _, row := range out.Items {
		attempt, err := attemptLogOf(row)
		if err != nil {
			return nil, err
		}
		attempts = append(attempts, attempt)
	}
	slices.Reverse(attempts)
	return attempts, nil
}

// rows reads rows by partition key. The keys must be unique.
func (s DeliveryLog) rows(ctx context.Context, tenant org.Tenant, kind due.Kind,
	ids []string,
) (map[string]item, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	keys := make([]item, len(ids))
	for i, id := range ids {
		keys[i] = rowKey(tenant, kind, id).attributes()
	}
	return EventLog(s).rows(ctx, keys)
}

const attemptLogPrefix = "ATT#"

func attemptLogOf(row item) (webhook.Attempt, error) {
	attempt := webhook.Attempt{
		Number: int(row.int("attempt")), Trigger: webhook.Trigger(row.text("attempt_trigger")), At: row.time("at"),
		Latency: time.Duration(row.int("latency_ms")) * time.Millisecond, Status: int(row.int("http_status")),
		Failure: webhook.Failure(row.text("failure")), SealedBody: row.bytes("response"),
	}
	if err := row.json("request_header", &attempt.RequestHeader); err != nil {
		return webhook.Attempt{}, err
	}
	return attempt, row.json("response_header", &attempt.ResponseHeader)
}
