package deliverylog

import (
	"context"
	"fmt"
	"slices"

	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// mostAttempts is the maximum number of attempts shown for a delivery; older attempts are omitted. A schedule has ten
// attempts, and each replay adds more.
const mostAttempts = 100

// Details searches deliveries and shows individual deliveries. A Details is safe for concurrent use.
type Details struct {
	Log

	Answers webhook.Opener // decrypts webhooks' private data
}

// Detail holds a delivery with all its requests and responses.
type Detail struct {
	Entry

	// Body is the body sent by every attempt, without the tokens in download links. It is nil if the event has expired.
	Body     []byte
	Attempts []Attempt // oldest attempt first
}

// Attempt holds a request and its outcome.
type Attempt struct {
	webhook.Attempt

	// Answer is the first 2 KiB of the response body. It is empty if the response had no body, or if the subscription,
	// whose key decrypts the body, was removed.
	Answer []byte
}

// Show returns a single delivery. It returns fault.NotFound if the delivery does not exist or has expired.
func (l Details) Show(ctx context.Context, tenant org.Tenant, id string) (Detail, error) {
	missing := fault.Missing("Delivery not found.")
	id, ok := ids.ParseUUID(id)
	if !ok {
		return Detail{}, missing
	}
	found, err := l.Rows.Deliveries(ctx, tenant, []string{id})
	if err != nil {
		return Detail{}, fmt.Errorf("read delivery: %w", err)
	}
	if len(found) == 0 || !l.isKept(found[0].CreatedAt) {
		return Detail{}, missing
	}
	events, err := l.Rows.Events(ctx, tenant, []string{found[0].EventID})
	if err != nil {
		return Detail{}, fmt.Errorf("read event: %w", err)
	}
	event := events[found[0].EventID]
	shown := Detail{Entry: entryOf(found[0], event)}
	if shown.Body, err = event.Shown(); err != nil {
		return Detail{}, fmt.Errorf("show event: %w", err)
	}
	shown.Attempts, err = l.attempts(ctx, found[0])
	return shown, err
}

func (l Details) attempts(ctx context.Context, d webhook.Delivery) ([]Attempt, error) {
	rows, err := l.Rows.Attempts(ctx, d.Tenant, d.ID, mostAttempts)
	if err != nil {
		return nil, fmt.Errorf("list attempts: %w", err)
	}
	subscriptions, err := l.Subscriptions.Subscriptions(ctx, d.Tenant)
	if err != nil {
		return nil, fmt.Errorf("list subscriptions: %w", err)
	}
	of := slices.IndexFunc(subscriptions, func(s webhook.Subscription) bool { return s.ID == d.SubscriptionID })
	attempts := make([]Attempt, 0, len(rows))
	for _, row := range rows {
		if !l.isKept(row.At) {
			continue
		}
		shown := Attempt{Attempt: row}
		if of >= 0 {
			if shown.Answer, err = subscriptions[of].OpenAnswer(ctx, l.Answers, d.ID, row.SealedBody); err != nil {
				return nil, fmt.Errorf("open answer: %w", err)
			}
		}
		shown.SealedBody = nil
		attempts = append(attempts, shown)
	}
	return attempts, nil
}
