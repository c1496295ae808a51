package sqs

import (
	"maps"
	"slices"
	"time"
)

// QueueState is one queue as the local console shows it.
type QueueState struct {
	Name       string
	Visible    int  // can be received now
	InFlight   int  // received, neither deleted nor visible again
	Delayed    int  // sent with a delay that still runs
	DeadLetter bool // another queue sends here what it could not deliver
}

// Snapshot returns all queues, sorted by name.
func (s *Server) Snapshot() []QueueState {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	states := make([]QueueState, 0, len(s.queues))
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		q := s.queues[name]
		visible, inFlight, delayed := q.counts(now)
		states = append(states, QueueState{
			Name: name, Visible: visible, InFlight: inFlight, Delayed: delayed, DeadLetter: s.isDeadLetterQueue(q),
		})
	}
	return states
}
