package eventlog

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"recordbridge/shared/webhook"
)

const (
	// settled is the age from which events are served (docs/guide/webhooks.md, Reading events; the package comment says why).
	settled = 15 * time.Second
	// kept is how long events stay in the list. Their rows go some time later, so this is compared here.
	kept = 15 * 24 * time.Hour
	// maxBytes bounds the events of an answer: an answer travels as base64, and Lambda's end at 6 MB. The largest event is
	// a row of 400 KB, so one always has room.
	maxBytes = 4_000_000
	// maxLooked bounds how many events one request reads for those that it asks for.
	maxLooked = 1000
	// minBatch and maxBatch bound how many events are read at once: not few where the first ones may not be asked for, and
	// not more than the store reads in one call.
	minBatch, maxBatch = 25, 100
)

// collected is a page in the making.
type collected struct {
	events []json.RawMessage
	bytes  int
	last   webhook.Event // the last one looked at; all before it were served or not asked for
	more   bool
}

// collect reads the events behind start that are wanted, until there are as many as asked for, the answer is
// full, or enough was looked at for one request. A start that is older than the events are kept is moved to
// the oldest that is left.
func (r Reader) collect(ctx context.Context, start webhook.Event, q Query) (collected, error) {
	c := collected{events: []json.RawMessage{}, last: start, more: true}
	from, now, types := start, r.Now(), q.types()
	if oldest := now.Add(-kept); from.CreatedAt.Before(oldest) {
		from = webhook.Event{Tenant: start.Tenant, CreatedAt: oldest}
	}
	for looked := 0; c.more && looked < maxLooked && len(c.events) < q.Limit; {
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

// add puts the body of an event into the answer, if it has room.
func (c *collected) add(body []byte, limit int) bool {
	isFull := len(c.events) == limit || c.bytes+len(body) > maxBytes
	if isFull && len(c.events) > 0 {
		return false
	}
	c.events, c.bytes = append(c.events, body), c.bytes+len(body)
	return true
}
