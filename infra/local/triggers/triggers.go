// Package triggers invokes functions as AWS does without a caller: from their queues (Lambda's SQS event source
// mapping) and on their schedules (EventBridge rules). It owns polling, the events' shape and what an answer means for
// the messages. It runs no functions (package lambda does) and keeps no messages (the embedded SQS does: visibility
// timeouts and dead letter queues are its business).
package triggers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Invoker runs one function to its end.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
}

// Queue is the part of the SQS client that an event source mapping uses, with the rights of its function.
type Queue interface {
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput,
		...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput,
		...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// Source is an event source mapping: a queue and the function that consumes it.
type Source struct {
	Function        string // logical id
	Queue           Queue
	QueueURL        string
	QueueARN        string
	BatchSize       int  // most messages of one invocation, 1 to 10
	Batches         int  // most invocations at once
	PartialFailures bool // the function reports which messages failed (ReportBatchItemFailures)
}

// Schedule is a rule that invokes a function at a fixed rate.
type Schedule struct {
	Name     string
	Function string // logical id
	Every    time.Duration
}

// Options of New.
type Options struct {
	Invoker   Invoker
	Sources   []Source
	Schedules []Schedule
	Region    string
	Account   string
	NewID     func() string // a UUID for every scheduled event
	Log       *slog.Logger  // tells of failed invocations
}

// Triggers are the queues and schedules of one stack.
type Triggers struct{ options Options }

// New prepares the triggers; nothing happens before Run or Fire.
func New(options Options) *Triggers { return &Triggers{options: options} }

// Run polls the queues and fires the schedules until ctx ends. It returns when all of its work has stopped; a batch
// that a function still works on then comes back after its visibility timeout.
func (t *Triggers) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, source := range t.options.Sources {
		all.Go(func() { t.poll(ctx, source) })
	}
	for _, schedule := range t.options.Schedules {
		all.Go(func() { t.tick(ctx, schedule) })
	}
	all.Wait()
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
