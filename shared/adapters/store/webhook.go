package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Events stores events and creates their deliveries when they are fanned out.
type Events Work

// Deliveries stores deliveries and their attempts.
type Deliveries Work

// EventDeliveries stores events and deliveries.
type EventDeliveries struct {
	Events
	Deliveries
}

// NewEventDeliveries returns an EventDeliveries that uses the Work table.
func NewEventDeliveries(work Work) EventDeliveries {
	return EventDeliveries{Events: Events(work), Deliveries: Deliveries(work)}
}

// Webhooks stores events, deliveries, and webhook subscriptions.
type Webhooks struct {
	EventDeliveries
	Hooks
}

// NewWebhooks returns a Webhooks that uses the Work and Control tables.
func NewWebhooks(work Work, control Control) Webhooks {
	return Webhooks{EventDeliveries: NewEventDeliveries(work), Hooks: Hooks(control)}
}

// Event implements webhook.Store and export.TaskStore.
func (s Events) Event(ctx context.Context, tenant org.Tenant, id string) (webhook.Event, error) {
	row, err := get(ctx, s.DB, s.Table, eventKey(tenant, id))
	if err != nil {
		return webhook.Event{}, err
	}
	return eventOf(tenant, id, row), nil
}

func eventOf(tenant org.Tenant, id string, row item) webhook.Event {
	return webhook.Event{
		ID: id, Tenant: tenant, Type: webhook.Type(row.text("type")), Body: row.bytes("body"),
		CreatedAt: row.time("created_at"), FannedOut: row.flag("settled"),
	}
}

// CreateEvent stores an event that is not part of another change, such as a test event. It returns fault.Conflict if
// the event exists.
func (s Events) CreateEvent(ctx context.Context, event webhook.Event) error {
	return create(ctx, s.DB, s.Table, eventItem(event))
}

func eventItem(e webhook.Event) item {
	row := newItem(eventKey(e.Tenant, e.ID))
	row.setText("type", string(e.Type))
	row.setBytes("body", e.Body)
	row.setTime("created_at", e.CreatedAt)
	row.setInt("ttl", e.CreatedAt.Add(keepEvents).Unix())
	row.setDue(e.ID, e.CreatedAt.Add(sweepAfter))
	row.listed(e.Tenant, "EVENT", e.ID, e.CreatedAt)
	return row
}

// FanOut implements webhook.Store.
func (s Events) FanOut(ctx context.Context, event webhook.Event, deliveries []webhook.Delivery) error {
	return transact(ctx, s.DB, s.fanOut(event, deliveries)...)
}

func (s Events) fanOut(event webhook.Event, deliveries []webhook.Delivery) []types.TransactWriteItem {
	mark := change{
		table: s.Table, key: eventKey(event.Tenant, event.ID),
		set: "SET settled = :yes REMOVE due_shard, due_at", when: "attribute_exists(pk) AND attribute_not_exists(settled)",
		values: item{":yes": &types.AttributeValueMemberBOOL{Value: true}},
	}
	writes := make([]types.TransactWriteItem, 0, 1+webhook.WritesPerDelivery*len(deliveries))
	writes = append(writes, mark.write())
	for _, d := range deliveries {
		writes = append(writes, newDelivery(s.Table, event, d)...)
	}
	return writes
}

func deliveryItem(d webhook.Delivery) item {
	row := newItem(deliveryKey(d.Tenant, d.ID))
	row.setText("event_id", d.EventID)
	row.setText("subscription_id", d.SubscriptionID)
	row.setText("status", string(d.Status))
	row.setInt("attempt", int64(d.Attempt))
	row.setInt("fence", d.Fence)
	row.setText("attempt_trigger", string(d.Trigger))
	row.setTime("next_at", d.NextAt)
	row.setFlag("paced", d.Paced)
	row.setFlag("slowly", d.Slowly)
	row.setTime("lease_until", d.LeaseUntil)
	row.setTime("created_at", d.CreatedAt)
	row.setInt("ttl", d.CreatedAt.Add(keepEvents).Unix())
	if !d.DueAt.IsZero() {
		row.setDue(d.ID, d.DueAt)
	}
	row.listed(d.Tenant, "DELIV", d.ID, d.CreatedAt)
	row["filter_list"] = statusList(d.Tenant, d.Status)
	return row
}

// ClaimDelivery implements webhook.Store.
func (s Deliveries) ClaimDelivery(ctx context.Context, tenant org.Tenant, id string, now,
	leaseUntil time.Time,
) (webhook.Delivery, error) {
	row, err := update(ctx, s.DB, leaseOf("fence").claim(change{
		table: s.Table, key: deliveryKey(tenant, id), set: ", #status = :inflight, filter_list = :list, due_at = :until",
		when:  "(#status = :inflight OR #status = :scheduled AND next_at <= :now)",
		names: map[string]string{"#status": "status"},
		values: item{
			":inflight": text(string(webhook.InFlight)), ":scheduled": text(string(webhook.Scheduled)),
			":list": statusList(tenant, webhook.InFlight),
		},
	}, now, leaseUntil))
	if err != nil {
		return webhook.Delivery{}, err
	}
	return deliveryOf(tenant, id, row), nil
}

func deliveryOf(tenant org.Tenant, id string, row item) webhook.Delivery {
	return webhook.Delivery{
		ID: id, Tenant: tenant, EventID: row.text("event_id"), SubscriptionID: row.text("subscription_id"),
		Status: webhook.DeliveryStatus(row.text("status")), Attempt: int(row.int("attempt")), Fence: row.int("fence"),
		Trigger: webhook.Trigger(row.text("attempt_trigger")), NextAt: row.time("next_at"), Paced: row.flag("paced"),
		LastStatus: int(row.int("last_status")), LastFailure: webhook.Failure(row.text("last_failure")),
		Slowly: row.flag("slowly"), LeaseUntil: row.time("lease_until"), DueAt: row.time("due_at"),
		CreatedAt: row.time("created_at"),
	}
}

// RecordAttempt implements webhook.Store.
func (s Deliveries) RecordAttempt(ctx context.Context, d webhook.Delivery, attempt webhook.Attempt) error {
	writes, err := s.recordAttempt(d, attempt)
	if err != nil {
		return err
	}
	return transact(ctx, s.DB, writes...)
}

func (r item) setHeaders(name string, header map[string]string) error {
	if len(header) == 0 {
		return nil
	}
	return r.setJSON(name, header)
}

// ParkDelivery implements webhook.Store.
func (s Deliveries) ParkDelivery(ctx context.Context, d webhook.Delivery) error {
	_, err := update(ctx, s.DB, s.unclaim(d))
	return err
}

func (s Deliveries) recordAttempt(d webhook.Delivery, attempt webhook.Attempt) ([]types.TransactWriteItem, error) {
	log := newItem(attemptLogKey(d.Tenant, d.ID, d.Fence))
	log.setInt("attempt", int64(attempt.Number))
	log.setText("attempt_trigger", string(attempt.Trigger))
	log.setTime("at", attempt.At)
	log.setInt("latency_ms", attempt.Latency.Milliseconds())
	log.setInt("http_status", int64(attempt.Status))
	log.setText("failure", string(attempt.Failure))
	log.setBytes("response", attempt.SealedBody)
	log.setInt("ttl", attempt.At.Add(keepEvents).Unix())
	if err := log.setHeaders("request_header", attempt.RequestHeader); err != nil {
		return nil, err
	}
	if err := log.setHeaders("response_header", attempt.ResponseHeader); err != nil {
		return nil, err
	}
	d.LastStatus, d.LastFailure = attempt.Status, attempt.Failure
	return []types.TransactWriteItem{s.unclaim(d).write(), putNew(s.Table, log)}, nil
}

// unclaim returns an update that releases a delivery's claim and stores the holder's result.
func (s Deliveries) unclaim(d webhook.Delivery) change {
	c := leaseOf("fence").held(change{
		table: s.Table, key: deliveryKey(d.Tenant, d.ID),
		set: "SET #status = :status, filter_list = :list, attempt = :attempt, next_at = :next, " +
			"attempt_trigger = :trigger, paced = :paced, slowly = :slowly, last_status = :answered, last_failure = :failure",
		when: "#status = :inflight", names: map[string]string{"#status": "status"},
		values: item{
			":status": text(string(d.Status)), ":list": statusList(d.Tenant, d.Status),
			":attempt": number(int64(d.Attempt)), ":next": moment(d.NextAt),
			":trigger": text(string(d.Trigger)), ":paced": &types.AttributeValueMemberBOOL{Value: d.Paced},
			":slowly": &types.AttributeValueMemberBOOL{Value: d.Slowly}, ":inflight": text(string(webhook.InFlight)),
			":answered": number(int64(d.LastStatus)), ":failure": text(string(d.LastFailure)),
		},
	}, number(d.Fence))
	if d.DueAt.IsZero() {
		c = leaseOf("fence").release(c)
		c.set += ", due_shard, due_at"
		return c
	}
	c.set += ", due_at = :due"
	c.values[":due"] = moment(d.DueAt)
	return leaseOf("fence").release(c)
}
