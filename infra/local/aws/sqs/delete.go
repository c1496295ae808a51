package sqs

import (
	"context"
	"time"
)

// deletion identifies a received message to delete. In DeleteMessageBatch, ID identifies the batch entry.
type deletion struct {
	ID            string `json:"Id"`
	ReceiptHandle string
}

type deleteMessageInput struct {
	deletion

	QueueURL string `json:"QueueUrl"`
}

func (o messageOperations) deleteMessage(_ context.Context, in *deleteMessageInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q, err := o.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return nil, o.delete(q, in.deletion)
}

type deleteMessageBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []deletion
}

type deleted struct {
	ID string `json:"Id"`
}

func (o messageOperations) deleteMessageBatch(_ context.Context, in *deleteMessageBatchInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q, err := o.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return batch(in.Entries, func(e deletion) string { return e.ID },
		func(e deletion) (any, error) { return deleted{ID: e.ID}, o.delete(q, e) })
}

// delete deletes the message. As the API reference warns, delete succeeds without deleting the message if the handle is
// from an earlier delivery. A handle becomes outdated when the message is delivered again after its visibility timeout.
func (o messageOperations) delete(q *queue, in deletion) error {
	r, err := readHandle(in.ReceiptHandle)
	if err != nil {
		return err
	}
	m := q.received(r, time.Now())
	if m == nil {
		return nil
	}
	return o.commit(record{Kind: kindDelete, Queue: q.name, ID: m.ID})
}

// purgePause is the time after a purge during which SQS rejects another purge (API reference, PurgeQueue).
const purgePause = time.Minute

type purgeQueueInput struct {
	QueueURL string `json:"QueueUrl"`
}

func (o *queueOperations) purgeQueue(_ context.Context, in *purgeQueueInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q, err := o.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if !q.purged.IsZero() && now.Sub(q.purged) < purgePause {
		return nil, exceeded("PurgeQueueInProgress",
			"Only one PurgeQueue operation on "+q.name+" is allowed every 60 seconds.")
	}
	return nil, o.commit(record{Kind: kindPurge, Queue: q.name, At: now})
}
