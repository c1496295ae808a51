package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Delivery implements webhook.Replays.
func (s Deliveries) Delivery(ctx context.Context, tenant org.Tenant, id string) (webhook.Delivery, error) {
	row, err := get(ctx, s.DB, s.Table, deliveryKey(tenant, id))
	if err != nil {
		return webhook.Delivery{}, err
	}
	return deliveryOf(tenant, id, row), nil
}

// DeliveriesMade implements webhook.Replays. DeliveriesMade queries an eventually consistent index.
func (s Deliveries) DeliveriesMade(ctx context.Context, tenant org.Tenant, from, to time.Time,
	limit int,
) ([]string, time.Time, error) {
	// Rows are ordered by creation time and ID. The next page starts at the last row's time because rows with the same
	// time may span two pages.
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		//nolint:gosec // limits are small
		TableName: &s.Table, IndexName: aws.String("byOrg"), Limit: aws.Int32(int32(limit)),
		KeyConditionExpression: aws.String("org_list = :list AND org_order BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{
			":list": text(tenant.Key() + "#DELIV"), ":from": moment(from), ":to": moment(to),
		},
	})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("query deliveries: %w", err)
	}
	ids := make([]string, 0, len(out.Items))
	var next time.Time
	for _, row := range out.Items {
		if found, ok := parseRowKey(item(row).text("pk")); ok {
			ids = append(ids, found.ID)
		}
		if len(out.LastEvaluatedKey) > 0 {
			next, err = time.Parse(stamp, item(row).text("org_order")[:len(stamp)])
			if err != nil {
				return nil, time.Time{}, fmt.Errorf("read order: %w", err)
			}
		}
	}
	return ids, next, nil
}

// RestartDelivery implements webhook.Replays.
func (s Deliveries) RestartDelivery(ctx context.Context, d webhook.Delivery) error {
	ttl := number(d.NextAt.Add(keepEvents).Unix())
	restart := change{
		table: s.Table, key: deliveryKey(d.Tenant, d.ID),
		set: "SET #status = :scheduled, filter_list = :list, attempt = :attempt, attempt_trigger = :trigger, " +
			"next_at = :next, due_at = :due, due_shard = :shard, #ttl = :ttl REMOVE paced",
		when:  "fence = :fence AND #status <> :inflight",
		names: map[string]string{"#status": "status", "#ttl": "ttl"},
		values: item{
			":ttl": ttl, ":scheduled": text(string(d.Status)), ":list": statusList(d.Tenant, d.Status),
			":attempt": number(int64(d.Attempt)),
			":trigger": text(string(d.Trigger)),
			":next":    moment(d.NextAt), ":due": moment(d.DueAt), ":shard": text(shardOf(d.ID)), ":fence": number(d.Fence),
			":inflight": text(string(webhook.InFlight)),
		},
	}
	// The replayed event must be kept for as long as its restarted delivery.
	keep := change{
		table: s.Table, key: eventKey(d.Tenant, d.EventID), set: "SET #ttl = :ttl", when: "attribute_exists(pk)",
		names: map[string]string{"#ttl": "ttl"}, values: item{":ttl": ttl},
	}
	return transact(ctx, s.DB, restart.write(), keep.write())
}
