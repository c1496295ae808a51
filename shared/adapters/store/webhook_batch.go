package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/webhook"
)

// EventBatches reads and fans out several tenants' events in batches.
type EventBatches struct {
	Rows Events
	Log  EventLog
}

// Events implements webhook.BatchStore.
func (s EventBatches) Events(ctx context.Context,
	references []webhook.Reference,
) (map[webhook.Reference]webhook.Event, error) {
	keys := make([]item, len(references))
	for i, r := range references {
		keys[i] = newItem(eventKey(r.Tenant, r.ID))
	}
	rows, err := s.Log.rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	events := make(map[webhook.Reference]webhook.Event, len(rows))
	for i, r := range references {
		if row, ok := rows[keys[i].text("pk")]; ok {
			events[r] = eventOf(r.Tenant, r.ID, row)
		}
	}
	return events, nil
}

// FanOutAll implements webhook.BatchStore.
func (s EventBatches) FanOutAll(ctx context.Context, all []webhook.FanOut) error {
	writes := make([]types.TransactWriteItem, 0, 4*len(all)) // an event usually has only one delivery
	for _, f := range all {
		writes = append(writes, s.Rows.fanOut(f.Event, f.Deliveries)...)
	}
	return transact(ctx, s.Rows.DB, writes...)
}

// BatchedWebhooks is a Webhooks that records attempts that finish at the same time in a single transaction.
type BatchedWebhooks struct {
	Webhooks

	attempts *joined
}

// NewBatchedWebhooks returns a BatchedWebhooks. Create only one BatchedWebhooks per process.
func NewBatchedWebhooks(rows Webhooks) BatchedWebhooks {
	return BatchedWebhooks{rows, &joined{db: rows.Deliveries.DB}}
}

// RecordAttempt implements webhook.Store.
func (s BatchedWebhooks) RecordAttempt(ctx context.Context, d webhook.Delivery, attempt webhook.Attempt) error {
	writes, err := s.recordAttempt(d, attempt)
	if err != nil {
		return err
	}
	return s.attempts.transact(ctx, writes...)
}
