package listevents

import (
	"context"
	"encoding/json"
	"time"

	"recordbridge/shared/webhook"
)

const (
	// settled is the age from which events are served (docs/webhooks.md, Reading events; the package comment says why).
	settled = 15 * time.Second
	// kept is how long events stay in the list. Their rows go some time later, so this is compared here.
	kept = 15 * 24 * time.Hour
	// maxBytes bounds the events of an answer: an answer travels as base64, and Lambda's end at 6 MB. The largest event is a
	// row of 400 KB, so one always has room.
	maxBytes = 4_000_000
	// maxLooked bounds how many events one request reads for those that it asks for.
	maxLooked = 1000
	// minBatch and maxBatch bound how many events are read at once: not few where the first ones may not be asked for, and
	// not more than the store reads in one call.
	minBatch, maxBatch = 25, 100
)

// page is an answer in the making.
type page struct {
	events []json.RawMessage
	bytes  int
	last   webhook.Event // the last one looked at; all before it were served or not asked for
	more   bool
}

// page reads the events behind start that are wanted, until there are limit of them, the answer is full, or enough was
// looked at for one request. A start that is older than the events are kept is moved to the oldest that is left.
func (d Deps) page(ctx context.Context, start webhook.Event, wanted func(webhook.Type) bool, limit int) (page, error) {
	p := page{events: []json.RawMessage{}, last: start, more: true}
	from, now := start, d.Now()
	if oldest := now.Add(-kept); from.CreatedAt.Before(oldest) {
		from = webhook.Event{Tenant: start.Tenant, CreatedAt: oldest}
	}
	for looked := 0; p.more && looked < maxLooked && len(p.events) < limit; {
		found, more, err := d.Log.EventsAfter(ctx, from, now.Add(-settled), min(max(limit-len(p.events), minBatch), maxBatch))
		if err != nil {
			return page{}, err
		}
		for _, event := range found {
			if wanted(event.Type) {
				body, err := event.Wire(d.Links)
				if err != nil {
					return page{}, err
				}
				if !p.add(body, limit) {
					return p, nil
				}
			}
			p.last, from = event, event
		}
		looked, p.more = looked+len(found), more
	}
	return p, nil
}

// add puts the body of an event into the answer, if it has room.
func (p *page) add(body []byte, limit int) bool {
	isFull := len(p.events) == limit || p.bytes+len(body) > maxBytes
	if isFull && len(p.events) > 0 {
		return false
	}
	p.events, p.bytes = append(p.events, body), p.bytes+len(body)
	return true
}
