package sqs

import (
	"cmp"
	"slices"
	"time"
)

// QueueInfo is one queue with what a person wants to know about it beyond its numbers.
type QueueInfo struct {
	QueueState

	ARN         string
	Oldest      time.Time // when the oldest message was sent; zero when there is none
	DeadLetters string    // name of the queue that takes what fails here; "" is none
	MaxReceives int       // how often a message is received before it goes there
	Serves      []string  // names of the queues whose dead letters these are
}

// Peeked is one message, looked at without a receive: the look changes nothing.
type Peeked struct {
	ID        string    `json:"id"`
	Body      string    `json:"body"`
	Sent      time.Time `json:"sent"`
	VisibleAt time.Time `json:"visible_at"` // when it can be received (again); in the past when it can be received now
	Receives  int       `json:"receives"`
	State     string    `json:"state"`            // "visible", "in flight" or "delayed"
	Source    string    `json:"source,omitempty"` // ARN of the queue that a dead letter failed in
}

// Details returns all queues, sorted by name.
func (s *Server) Details() []QueueInfo {
	states := s.Snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	all := make([]QueueInfo, 0, len(states))
	for _, state := range states {
		q, ok := s.queues[state.Name]
		if !ok {
			continue
		}
		info := QueueInfo{QueueState: state, ARN: q.arn(), Oldest: q.oldest(now), MaxReceives: q.settings.maxReceives}
		if target := s.findARN(q.settings.deadLetterARN); target != nil {
			info.DeadLetters = target.name
		}
		for name, other := range s.queues {
			if other.settings.deadLetterARN == q.arn() {
				info.Serves = append(info.Serves, name)
			}
		}
		slices.Sort(info.Serves)
		all = append(all, info)
	}
	return all
}

// Peek returns up to limit messages of the queue, the oldest first, in whatever state; ok is false when there is no
// such queue.
func (s *Server) Peek(queue string, limit int) (messages []Peeked, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, ok := s.queues[queue]
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

// oldest is when the oldest message was sent, zero when there is none.
func (q *queue) oldest(now time.Time) time.Time {
	var first time.Time
	for _, m := range q.messages {
		if !q.expired(m, now) && (first.IsZero() || m.Sent.Before(first)) {
			first = m.Sent
		}
	}
	return first
}
