package eventlog

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"recordbridge/shared/webhook"
)

const (
	// settled is an event's minimum age before the list serves it (docs/guide/events.md).
	settled = 15 * time.Second
	// kept is the period for which events stay in the list. Event rows are deleted later, so eventlog checks each
	// event's age.
	kept = 15 * 24 * time.Hour
	// maxBytes is the maximum total size of a response's events in bytes. Responses are encoded in base64 and limited
	// by Lambda to 6 MB. The largest event is a row of 400 KB, so at least one event always fits.
	maxBytes = 4_000_000
	// maxExamined is the maximum number of events that a request reads to find matching events.
	maxExamined = 1000
	// minBatch and maxBatch limit the number of events read at once. At least minBatch events are read even for a small
	// page, because some events don't match. maxBatch is the most that the store reads in a single call.
	minBatch, maxBatch = 25, 100
)

type collected struct {
	events []json.RawMessage
	bytes  int
	last   webhook.Event // last event examined; all earlier events were returned or did not match
	more   bool
}

// collect reads the matching events after start. It stops when the page is full, the response reaches its size limit,
// or the request has read the maximum number of events. If start precedes the retention period, collect begins at the
// oldest remaining event.
func (r Reader) collect(ctx context.Context, start webhook.Event, q Query) (collected, error) {
	c := collected{events: []json.RawMessage{}, last: start, more: true}
	from, now, types := start, r.Now(), q.types()
	if oldest := now.Add(-kept); from.CreatedAt.Before(oldest) {
		from = webhook.Event{Tenant: start.Tenant, CreatedAt: oldest}
	}
	for looked := 0; c.more && looked < maxExamined && len(c.events) < q.Limit; {
		found, more, err := r.Log.EventsAfter(ctx, from, now.Add(-settled),
			min(max(q.Limit-len(c.events), minBatch), maxBatch))
		if err != nil {
			return collected{}, err
		}
		for _, event := range found {
			if slices.Contains(types, event.Type) {
				body, err := event.Wire(r.Links)
				if err != nil {
					return collected{}, err
				}
				if !c.add(body, q.Limit) {
					return c, nil
				}
			}
			c.last, from = event, event
		}
		looked, c.more = looked+len(found), more
	}
	return c, nil
}

// add adds an event's body to the response if it fits.
func (c *collected) add(body []byte, limit int) bool {
	isFull := len(c.events) == limit || c.bytes+len(body) > maxBytes
	if isFull && len(c.events) > 0 {
		return false
	}
	c.events, c.bytes = append(c.events, body), c.bytes+len(body)
	return true
}
