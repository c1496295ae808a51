// Package triggers invokes functions from queues and on schedules, as Lambda's SQS event source mapping and EventBridge
// rules do on AWS. The package handles polling, the event format and the deletion of messages according to the
// response. Package lambda executes the invoked functions. The embedded SQS stores messages and handles visibility
// timeouts and dead-letter queues.
package triggers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Invoker runs a function to completion.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
}

// Queue is the subset of SQS operations that an event source mapping uses, with the permissions of the mapping's
// function.
type Queue interface {
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput,
		...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput,
		...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// Source is an event source mapping from a queue to a function.
type Source struct {
	Function        string // logical ID of the function
	Queue           Queue
	QueueURL        string
	QueueARN        string
	BatchSize       int  // maximum messages per invocation, from 1 to 10
	Batches         int  // maximum concurrent invocations
	PartialFailures bool // true if the function reports failed messages (ReportBatchItemFailures)
}

// Schedule is a rule that invokes a function at a fixed rate.
type Schedule struct {
	Name     string
	Function string // logical ID of the function
	Every    time.Duration
}

// Options configures New.
type Options struct {
	Invoker   Invoker
	Sources   []Source
	Schedules []Schedule
	Region    string
	Account   string
	NewID     func() string // returns a UUID for a scheduled event
	Log       *slog.Logger
}

// Triggers invokes functions from a stack's queues and on its schedules.
type Triggers struct {
	options  Options
	mappings []*mapping // one for each source
}

// New returns triggers for the given queues and schedules. No function is invoked until Run or Fire is called.
func New(options Options) *Triggers {
	t := &Triggers{options: options}
	for _, source := range options.Sources {
		t.mappings = append(t.mappings, &mapping{source: source, enabled: make(chan struct{})})
	}
	for _, m := range t.mappings {
		close(m.enabled)
	}
	return t
}

// Run polls the queues and invokes the scheduled functions until ctx is done, and returns once all its work has
// stopped. A batch that is still being processed when ctx is done is delivered again after its visibility timeout.
func (t *Triggers) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range t.mappings {
		all.Go(func() { t.poll(ctx, m) })
	}
	for _, schedule := range t.options.Schedules {
		all.Go(func() { t.tick(ctx, schedule) })
	}
	all.Wait()
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
