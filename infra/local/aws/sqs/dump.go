package sqs

import (
	"cmp"
	"maps"
	"slices"
)

// Dump implements wire.Service, emitting the queues and then the messages in order of arrival. Each message includes
// its history, so that timers, counts and receipt handles stay valid.
func (s *Server) Dump(emit func(record any) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	type placed struct {
		*message

		queue string
	}
	var messages []placed
	for _, name := range slices.Sorted(maps.Keys(s.queues)) {
		q := s.queues[name]
		if err := q.dump(emit); err != nil {
			return err
		}
		for _, m := range q.messages {
			messages = append(messages, placed{m, name})
		}
	}
	slices.SortFunc(messages, func(a, b placed) int { return cmp.Compare(a.place, b.place) })
	for _, m := range messages {
		if err := emit(record{Kind: kindSend, Queue: m.queue, Message: m.message}); err != nil {
			return err
		}
	}
	return nil
}

func (q *queue) dump(emit func(record any) error) error {
	if err := emit(record{Kind: kindCreate, Queue: q.name, Attributes: q.attributes, At: q.created}); err != nil {
		return err
	}
	if !q.modified.Equal(q.created) {
		if err := emit(record{Kind: kindAttributes, Queue: q.name, Attributes: q.attributes, At: q.modified}); err != nil {
			return err
		}
	}
	if !q.purged.IsZero() {
		return emit(record{Kind: kindPurge, Queue: q.name, At: q.purged})
	}
	return nil
}
