package sqs

import (
	"fmt"
	"maps"
	"time"
)

// record is one change as it stands in the journal. Which fields count depends on Kind.
type record struct {
	Kind       string            `json:"kind"`
	Queue      string            `json:"queue"`
	Attributes map[string]string `json:"attributes,omitempty"` // kindCreate, kindAttributes
	Message    *message          `json:"message,omitempty"`    // kindSend
	ID         string            `json:"id,omitempty"`         // the message's id for all below
	At         time.Time         `json:"at,omitzero"`          // when it happened
	Until      time.Time         `json:"until,omitzero"`       // kindReceive: invisible until then
	Twice      bool              `json:"twice,omitempty"`      // kindReceive: a copy stays
	Target     string            `json:"target,omitempty"`     // kindBury, kindRevive: the queue it goes to
	NewID      string            `json:"new_id,omitempty"`     // kindRevive
}

const (
	kindCreate     = "create"
	kindAttributes = "attributes"
	kindSend       = "send"
	kindReceive    = "receive"
	kindDelete     = "delete"
	kindPurge      = "purge"
	kindBury       = "bury"   // moved to the dead-letter queue
	kindRevive     = "revive" // moved out of it by StartMessageMoveTask
)

// commit stores r and then lets it take effect. Nothing else changes queues and messages, so a replay of all records
// ends in the same state. The caller holds the mutex.
func (s *Server) commit(r record) error {
	if err := s.journal.Append(serviceName, r); err != nil {
		return err
	}
	return s.apply(r)
}

func (s *Server) apply(r record) error {
	if r.Kind == kindCreate {
		s.queues[r.Queue] = newQueue(r.Queue, r.At)
	}
	q, ok := s.queues[r.Queue]
	if !ok {
		return fmt.Errorf("sqs record %q: no queue %q", r.Kind, r.Queue)
	}
	switch r.Kind {
	case kindCreate, kindAttributes:
		return q.set(r.Attributes, r.At)
	case kindPurge:
		q.clear(r.At)
		return nil
	case kindSend:
		if r.Message == nil {
			return fmt.Errorf("sqs record %q: no message", r.Kind)
		}
		s.add(q, r.Message)
		return nil
	default:
		return s.applyToMessage(q, r)
	}
}

func (s *Server) applyToMessage(q *queue, r record) error {
	m, ok := q.messages[r.ID]
	if !ok {
		return fmt.Errorf("sqs record %q: no message %q in queue %q", r.Kind, r.ID, r.Queue)
	}
	switch r.Kind {
	case kindReceive:
		m.receive(r.At, r.Until, r.Twice)
		q.put(m)
	case kindDelete:
		q.remove(m)
	case kindBury, kindRevive:
		return s.applyMove(q, m, r)
	default:
		return fmt.Errorf("sqs record: unknown kind %q", r.Kind)
	}
	return nil
}

func (s *Server) applyMove(from *queue, m *message, r record) error {
	to, ok := s.queues[r.Target]
	if !ok {
		return fmt.Errorf("sqs record %q: no queue %q", r.Kind, r.Target)
	}
	from.remove(m)
	m.VisibleAt, m.Doubled = r.At, false
	if r.Kind == kindBury {
		m.SourceARN = from.arn()
	} else {
		// A redriven message counts as a new one (API reference, StartMessageMoveTask).
		*m = message{ID: r.NewID, Body: m.Body, GroupID: m.GroupID, Sent: r.At, VisibleAt: r.At}
	}
	s.add(to, m)
	return nil
}

func (s *Server) add(q *queue, m *message) {
	s.placed++
	m.place, m.index = s.placed, -1
	q.put(m)
}

func (q *queue) set(attributes map[string]string, at time.Time) error {
	merged := q.with(attributes)
	parsed, err := parseSettings(merged)
	if err != nil {
		return err
	}
	q.attributes, q.settings, q.modified = merged, parsed, at
	return nil
}

// with returns the queue's attributes as they would be after a change.
func (q *queue) with(attributes map[string]string) map[string]string {
	merged := map[string]string{}
	maps.Copy(merged, q.attributes)
	maps.Copy(merged, attributes)
	return merged
}
