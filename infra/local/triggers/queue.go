package triggers

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	longPoll     = 20              // long-polling time in seconds; SQS's maximum
	afterFailure = time.Second     // delay before the queue is polled again after an error
	deleteTime   = 5 * time.Second // time limit for deleting processed messages, even while the runner is stopping
)

// poll passes batches to the source's function, with up to Source.Batches in progress at once. It receives messages
// only when it can process another batch, so that waiting messages remain visible in the queue. While the mapping is
// disabled, poll receives nothing.
func (t *Triggers) poll(ctx context.Context, m *mapping) {
	source := m.source
	for ctx.Err() == nil && !t.attach(ctx, source) {
		pause(ctx, afterFailure)
	}
	var working sync.WaitGroup
	defer working.Wait()
	free := make(chan struct{}, max(source.Batches, 1))
	for range cap(free) {
		free <- struct{}{}
	}
	for ctx.Err() == nil {
		select {
		case <-free:
		case <-ctx.Done():
			return
		}
		receiving, stop := m.receiving(ctx)
		received, err := source.Queue.ReceiveMessage(receiving, &sqs.ReceiveMessageInput{
			QueueUrl:                    &source.QueueURL,
			MaxNumberOfMessages:         int32(min(max(source.BatchSize, 1), 10)), // clamp to SQS's limits
			WaitTimeSeconds:             longPoll,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		disabled := receiving.Err() != nil
		stop()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && disabled:
			free <- struct{}{}
		case err != nil:
			t.options.Log.ErrorContext(ctx, "queue cannot be read",
				slog.String("queue", source.QueueARN), slog.Any("error", err))
			pause(ctx, afterFailure)
			free <- struct{}{}
		case len(received.Messages) == 0:
			free <- struct{}{}
		default:
			working.Go(func() {
				t.handle(ctx, source, received.Messages)
				free <- struct{}{}
			})
		}
	}
}

// attach reads the queue's attributes, as Lambda does before it connects a queue to a function. A function whose role
// lacks this permission receives no messages.
func (t *Triggers) attach(ctx context.Context, source Source) bool {
	_, err := source.Queue.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &source.QueueURL, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameVisibilityTimeout},
	})
	if err != nil && ctx.Err() == nil {
		t.options.Log.ErrorContext(ctx, "queue cannot be connected",
			slog.String("queue", source.QueueARN), slog.String("function", source.Function), slog.Any("error", err))
	}
	return err == nil
}

// handle invokes the function with a batch and deletes the messages that it has processed. The other messages become
// visible again when their visibility timeouts end. SQS moves a message to the dead-letter queue once it has been
// received too often.
func (t *Triggers) handle(ctx context.Context, source Source, batch []types.Message) {
	payload, err := json.Marshal(t.event(source, batch))
	if err != nil {
		t.options.Log.ErrorContext(ctx, "batch cannot be written as JSON",
			slog.String("function", source.Function), slog.Any("error", err))
		return
	}
	answer, err := t.options.Invoker.Invoke(ctx, source.Function, payload)
	if err != nil {
		t.options.Log.WarnContext(ctx, "batch failed",
			slog.String("function", source.Function), slog.Int("messages", len(batch)), slog.Any("error", err))
		return
	}
	done := batch
	if source.PartialFailures {
		done = succeeded(batch, answer)
	}
	if failed := len(batch) - len(done); failed > 0 {
		t.options.Log.WarnContext(ctx, "batch failed in part",
			slog.String("function", source.Function), slog.Int("messages", len(batch)), slog.Int("failed", failed))
	}
	t.remove(ctx, source, done)
}

// remove deletes processed messages even if ctx is done, so that they are not processed again.
func (t *Triggers) remove(ctx context.Context, source Source, messages []types.Message) {
	if len(messages) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTime)
	defer cancel()
	entries := make([]types.DeleteMessageBatchRequestEntry, len(messages))
	for i, message := range messages {
		entries[i] = types.DeleteMessageBatchRequestEntry{
			Id:            aws.String(strconv.Itoa(i)),
			ReceiptHandle: message.ReceiptHandle,
		}
	}
	deleted, err := source.Queue.DeleteMessageBatch(ctx,
		&sqs.DeleteMessageBatchInput{QueueUrl: &source.QueueURL, Entries: entries})
	switch {
	case err != nil:
		t.options.Log.ErrorContext(ctx, "handled messages cannot be deleted",
			slog.String("queue", source.QueueARN), slog.Any("error", err))
	case len(deleted.Failed) > 0:
		t.options.Log.ErrorContext(ctx, "handled messages cannot be deleted",
			slog.String("queue", source.QueueARN), slog.String("code", aws.ToString(deleted.Failed[0].Code)))
	}
}

func (t *Triggers) event(source Source, batch []types.Message) events.SQSEvent {
	records := make([]events.SQSMessage, len(batch))
	for i, message := range batch {
		records[i] = events.SQSMessage{
			MessageId:         aws.ToString(message.MessageId),
			ReceiptHandle:     aws.ToString(message.ReceiptHandle),
			Body:              aws.ToString(message.Body),
			Md5OfBody:         aws.ToString(message.MD5OfBody),
			Attributes:        message.Attributes,
			MessageAttributes: map[string]events.SQSMessageAttribute{}, // senders do not set message attributes
			EventSource:       "aws:sqs",
			EventSourceARN:    source.QueueARN,
			AWSRegion:         t.options.Region,
		}
	}
	return events.SQSEvent{Records: records}
}

// succeeded returns the messages that a function has processed, according to its partial batch response. If the
// response is invalid or names a message outside the batch, all messages count as failed:
// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
func succeeded(batch []types.Message, answer []byte) []types.Message {
	var report struct {
		Failures []struct {
			ID string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if len(answer) > 0 && json.Unmarshal(answer, &report) != nil {
		return nil
	}
	failed := make(map[string]bool, len(batch))
	for _, message := range batch {
		failed[aws.ToString(message.MessageId)] = false
	}
	for _, failure := range report.Failures {
		if _, known := failed[failure.ID]; !known {
			return nil
		}
		failed[failure.ID] = true
	}
	done := make([]types.Message, 0, len(batch))
	for _, message := range batch {
		if !failed[aws.ToString(message.MessageId)] {
			done = append(done, message)
		}
	}
	return done
}
