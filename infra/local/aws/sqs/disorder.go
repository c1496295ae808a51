package sqs

import (
	"container/heap"
	"slices"
	"time"
)

// Disorder is what a standard queue may do to whoever believes in order and in exactly once. It is asked for each
// message that a receive takes: which of the candidates, oldest first, is taken, and whether that one can be received
// again at once, as if it had been delivered twice.
type Disorder func(queue string, candidates int) (pick int, twice bool)

// Disturb makes d decide about every message that is received from now on; nil gives them oldest first and once. A pick
// that is not among the candidates means the nearest one. Both deliveries of a doubled message count as receives, and
// the receipt handles of both are valid.
func (o *receiveOperations) Disturb(d Disorder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.draw = d
}

// next removes the message that the next receive gets from the schedule of q, nil when none is visible, and tells
// whether it is one that will be delivered twice.
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

// visible returns the messages that can be received, the one that has been visible longest first. Like queue.next, it
// lets those past the retention period vanish.
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
