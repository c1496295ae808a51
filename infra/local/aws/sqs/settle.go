package sqs

import (
	"context"
	"time"

	"recordbridge/infra/local/aws/wire"
)

// settlement names a delivered message, or one entry of DeleteMessageBatch, where ID names the entry.
type settlement struct {
	ID            string `json:"Id"`
	ReceiptHandle string
}

type deleteMessageInput struct {
	settlement

	QueueURL string `json:"QueueUrl"`
}

func (s *Server) deleteMessage(_ context.Context, in *deleteMessageInput) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return nil, s.settle(q, in.settlement)
}

type deleteMessageBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []settlement
}

type settled struct {
	ID string `json:"Id"`
}

func (s *Server) deleteMessageBatch(_ context.Context, in *deleteMessageBatchInput) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return batch(in.Entries, func(e settlement) string { return e.ID },
		func(e settlement) (any, error) { return settled{ID: e.ID}, s.settle(q, e) })
}

// settle deletes the message. With the handle of an earlier delivery it succeeds and deletes nothing: that is what
// the API reference warns of, and what a consumer meets that worked longer than its visibility timeout.
func (s *Server) settle(q *queue, in settlement) error {
	r, err := readHandle(in.ReceiptHandle)
	if err != nil {
		return err
	}
	m := q.received(r, time.Now())
	if m == nil {
		return nil
	}
	return s.commit(record{Kind: kindDelete, Queue: q.name, ID: m.ID})
}

type changeMessageVisibilityInput struct {
	QueueURL          string `json:"QueueUrl"`
	ReceiptHandle     string
	VisibilityTimeout *int
}

func (s *Server) changeMessageVisibility(_ context.Context, in *changeMessageVisibilityInput) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	r, err := readHandle(in.ReceiptHandle)
	if err != nil {
		return nil, err
	}
	if in.VisibilityTimeout == nil {
		return nil, missing("VisibilityTimeout")
	}
	seconds, err := ranged("VisibilityTimeout", in.VisibilityTimeout, 0, 0, maxVisibilitySeconds)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	m := q.received(r, now)
	if m == nil {
		return nil, wire.Fail("InvalidParameterValue", "Value %s for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.", in.ReceiptHandle)
	}
	if !m.inFlight(now) && !m.Doubled {
		return nil, wire.Fail("MessageNotInflight", "The specified message isn't in flight.")
	}
	until := now.Add(time.Duration(seconds) * time.Second)
	if until.Sub(m.Received) > maxVisibilitySeconds*time.Second {
		return nil, wire.Fail("InvalidParameterValue", "Value %d for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [%d seconds].", seconds, maxVisibilitySeconds)
	}
	return nil, s.commit(record{Kind: kindVisibility, Queue: q.name, ID: m.ID, Until: until})
}

// purgePause is how long SQS refuses a second purge (API reference, PurgeQueue).
const purgePause = time.Minute

type purgeQueueInput struct {
	QueueURL string `json:"QueueUrl"`
}

func (s *Server) purgeQueue(_ context.Context, in *purgeQueueInput) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if !q.purged.IsZero() && now.Sub(q.purged) < purgePause {
		return nil, exceeded("PurgeQueueInProgress", "Only one PurgeQueue operation on "+q.name+" is allowed every 60 seconds.")
	}
	return nil, s.commit(record{Kind: kindPurge, Queue: q.name, At: now})
}
