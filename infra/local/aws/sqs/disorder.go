package sqs

import (
	"container/heap"
	"slices"
	"time"
)

// Disorder simulates the reordering and duplicates that a standard queue may produce. The server calls Disorder for
// each message received. candidates is the number of receivable messages, which are ordered oldest first. Disorder
// returns the index of the message to receive. twice reports whether the message can be received again immediately, as
// if it had been delivered twice.
type Disorder func(queue string, candidates int) (pick int, twice bool)

// Disturb makes later receive operations use d to choose each message. If d is nil, each message is received once, in
// the default order. If d returns an index outside the candidates, the nearest candidate is used. Both deliveries of a
// duplicated message count as receives, and both receipt handles are valid.
func (o *receiveOperations) Disturb(d Disorder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.draw = d
}

// next removes the next message to receive from q's schedule, and reports whether it will be delivered twice. If no
// message is visible, next returns nil.
func (o *receiveOperations) next(q *queue, now time.Time) (m *message, twice bool) {
	if o.draw == nil {
		return q.next(now), false
	}
	candidates := q.visible(now)
	if len(candidates) == 0 {
		return nil, false
	}
	pick, twice := o.draw(q.name, len(candidates))
	m = candidates[min(max(pick, 0), len(candidates)-1)]
	heap.Remove(q.groups[m.GroupID], m.index)
	return m, twice
}

// visible returns the receivable messages in the order in which they became visible. Like queue.next, visible drops
// messages that have exceeded the retention period.
func (q *queue) visible(now time.Time) []*message {
	var found []*message
	for _, m := range q.messages {
		switch {
		case m.index < 0 || m.VisibleAt.After(now):
		case q.expired(m, now):
			q.remove(m)
		default:
			found = append(found, m)
		}
	}
	slices.SortFunc(found, (*message).compare)
	return found
}
