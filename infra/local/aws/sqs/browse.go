package sqs

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// QueueInfo describes a queue for display in the console.
type QueueInfo struct {
	QueueState

	ARN         string
	Oldest      time.Time // send time of the oldest message; zero if the queue is empty
	DeadLetters string    // name of the queue's dead-letter queue; "" if the queue has none
	MaxReceives int       // number of receives after which a message becomes a dead letter
	Serves      []string  // queues that use this queue as their dead-letter queue
}

// Peeked is a message that was inspected but not received.
type Peeked struct {
	ID        string    `json:"id"`
	Body      string    `json:"body"`
	Sent      time.Time `json:"sent"`
	VisibleAt time.Time `json:"visible_at"` // time when the message becomes receivable; may be in the past
	Receives  int       `json:"receives"`
	State     string    `json:"state"`            // one of "visible", "in flight" and "delayed"
	Source    string    `json:"source,omitempty"` // ARN of the queue from which the dead letter was moved
}

type view struct{ *ledger }

// Details returns all queues, sorted by name.
func (v view) Details() []QueueInfo {
	states := v.Snapshot()
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	all := make([]QueueInfo, 0, len(states))
	for _, state := range states {
		q, ok := v.queues[state.Name]
		if !ok {
			continue
		}
		info := QueueInfo{QueueState: state, ARN: q.arn(), Oldest: q.oldest(now), MaxReceives: q.settings.maxReceives}
		if target := v.findARN(q.settings.deadLetterARN); target != nil {
			info.DeadLetters = target.name
		}
		for name, other := range v.queues {
			if other.settings.deadLetterARN == q.arn() {
				info.Serves = append(info.Serves, name)
			}
		}
		slices.Sort(info.Serves)
		all = append(all, info)
	}
	return all
}

// Peek returns up to limit messages from the queue, oldest first, regardless of their state. If the queue does not
// exist, ok is false.
func (v view) Peek(queue string, limit int) (messages []Peeked, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	q, ok := v.queues[queue]
	if !ok {
		return nil, false
	}
	now := time.Now()
	messages = []Peeked{}
	for _, m := range q.messages {
		if q.expired(m, now) {
			continue
		}
		state := "visible"
		switch {
		case m.inFlight(now):
			state = "in flight"
		case m.VisibleAt.After(now):
			state = "delayed"
		}
		messages = append(messages, Peeked{
			ID: m.ID, Body: m.Body, Sent: m.Sent, VisibleAt: m.VisibleAt, Receives: m.Receives, State: state,
			Source: m.SourceARN,
		})
	}
	slices.SortFunc(messages, func(a, b Peeked) int { return cmp.Or(a.Sent.Compare(b.Sent), cmp.Compare(a.ID, b.ID)) })
	return messages[:min(limit, len(messages))], true
}

// oldest returns the send time of the oldest message, or the zero time if the queue is empty.
func (q *queue) oldest(now time.Time) time.Time {
	var first time.Time
	for _, m := range q.messages {
		if !q.expired(m, now) && (first.IsZero() || m.Sent.Before(first)) {
			first = m.Sent
		}
	}
	return first
}

// QueueState describes a queue's state for display in the local console.
type QueueState struct {
	Name       string
	Visible    int // number of messages that can be received
	InFlight   int // number of received messages that are not deleted and not yet visible again
	Delayed    int // number of messages whose delay has not passed
	DeadLetter bool
}

// Snapshot returns all queues, sorted by name.
func (v view) Snapshot() []QueueState {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	states := make([]QueueState, 0, len(v.queues))
	for _, name := range slices.Sorted(maps.Keys(v.queues)) {
		q := v.queues[name]
		visible, inFlight, delayed := q.counts(now)
		states = append(states, QueueState{
			Name: name, Visible: visible, InFlight: inFlight, Delayed: delayed, DeadLetter: v.isDeadLetterQueue(q),
		})
	}
	return states
}
