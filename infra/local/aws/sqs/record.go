package sqs

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// record is a journalled change. Kind determines which fields are set.
type record struct {
	Kind       string            `json:"kind"`
	Queue      string            `json:"queue"`
	Attributes map[string]string `json:"attributes,omitempty"` // changed attributes, for kindCreate and kindAttributes
	Message    *message          `json:"message,omitempty"`    // for kindSend
	ID         string            `json:"id,omitempty"`         // message ID, for kinds that change one message
	At         time.Time         `json:"at,omitzero"`
	Until      time.Time         `json:"until,omitzero"`   // for kindReceive: when the message is visible again
	Twice      bool              `json:"twice,omitempty"`  // for kindReceive, true if a copy remains visible
	Target     string            `json:"target,omitempty"` // for kindDeadLetter and kindRedrive, the target queue
	NewID      string            `json:"new_id,omitempty"` // for kindRedrive
}

const (
	kindCreate     = "create"
	kindAttributes = "attributes"
	kindSend       = "send"
	kindReceive    = "receive"
	kindDelete     = "delete"
	kindPurge      = "purge"
	kindDeadLetter = "bury"   // message moved to the dead-letter queue
	kindRedrive    = "revive" // moved back to the source queue by StartMessageMoveTask
)

type ledger struct {
	journal wire.Journal

	mu     sync.Mutex
	queues map[string]*queue
	placed uint64 // number of messages ever added; breaks ties in visibility time
}

// commit journals r and then applies it. Queues and messages change only through commit, so replaying all records
// restores the same state. The caller must hold the mutex.
func (l *ledger) commit(r record) error {
	if err := l.journal.Append(serviceName, r); err != nil {
		return err
	}
	return l.apply(r)
}

func (l *ledger) apply(r record) error {
	if r.Kind == kindCreate {
		l.queues[r.Queue] = newQueue(r.Queue, r.At)
	}
	q, ok := l.queues[r.Queue]
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
		l.add(q, r.Message)
		return nil
	default:
		return l.applyToMessage(q, r)
	}
}

func (l *ledger) applyToMessage(q *queue, r record) error {
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
	case kindDeadLetter, kindRedrive:
		return l.applyMove(q, m, r)
	default:
		return fmt.Errorf("sqs record: unknown kind %q", r.Kind)
	}
	return nil
}

func (l *ledger) applyMove(from *queue, m *message, r record) error {
	to, ok := l.queues[r.Target]
	if !ok {
		return fmt.Errorf("sqs record %q: no queue %q", r.Kind, r.Target)
	}
	from.remove(m)
	m.VisibleAt, m.Doubled = r.At, false
	if r.Kind == kindDeadLetter {
		m.SourceARN = from.arn()
	} else {
		// A redriven message counts as new (API reference, StartMessageMoveTask).
		*m = message{ID: r.NewID, Body: m.Body, GroupID: m.GroupID, Sent: r.At, VisibleAt: r.At}
	}
	l.add(to, m)
	return nil
}

func (l *ledger) add(q *queue, m *message) {
	l.placed++
	m.place, m.index = l.placed, -1
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

func (q *queue) with(attributes map[string]string) map[string]string {
	merged := map[string]string{}
	maps.Copy(merged, q.attributes)
	maps.Copy(merged, attributes)
	return merged
}
