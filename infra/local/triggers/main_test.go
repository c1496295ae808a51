package triggers_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/triggers"
)

// function is a fake Lambda function that returns the result of respond and records its inputs.
type function struct {
	respond func(payload []byte) ([]byte, error)

	mu    sync.Mutex
	names []string
	calls [][]byte
	times []time.Time
}

func (f *function) Invoke(_ context.Context, name string, payload []byte) ([]byte, error) {
	f.mu.Lock()
	f.names = append(f.names, name)
	f.calls = append(f.calls, payload)
	f.times = append(f.times, time.Now())
	f.mu.Unlock()
	if f.respond == nil {
		return nil, nil
	}
	return f.respond(payload)
}

func (f *function) invocations() (names []string, calls [][]byte, times []time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names, f.calls, f.times
}

// queue is an embedded SQS server with two queues: one with a visibility timeout of 30 seconds, and its dead-letter
// queue.
type queue struct {
	*sqs.Client

	url, arn, deadURL string
}

func newQueue(t *testing.T, maxReceiveCount int) *queue {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := &queue{Client: sqs.NewFromConfig(cloud.Config("test"))}
	dead, deadARN := q.create(t, "dead", nil)
	policy, err := json.Marshal(map[string]string{
		"deadLetterTargetArn": deadARN,
		"maxReceiveCount":     strconv.Itoa(maxReceiveCount),
	})
	if err != nil {
		t.Fatal(err)
	}
	q.deadURL = dead
	q.url, q.arn = q.create(t, "work", map[string]string{"RedrivePolicy": string(policy), "VisibilityTimeout": "30"})
	return q
}

func (q *queue) create(t *testing.T, name string, attributes map[string]string) (url, arn string) {
	t.Helper()
	created, err := q.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	return awssdk.ToString(created.QueueUrl), "arn:aws:sqs:us-east-1:000000000000:" + name
}

func (q *queue) send(t *testing.T, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		_, err := q.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &q.url, MessageBody: &body,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (q *queue) counts(t *testing.T, url string) (visible, inFlight string) {
	t.Helper()
	got, err := q.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	return got.Attributes["ApproximateNumberOfMessages"], got.Attributes["ApproximateNumberOfMessagesNotVisible"]
}

func (q *queue) source(batchSize, batches int, partial bool) triggers.Source {
	return triggers.Source{
		Function: "WorkerFunction", Queue: q, QueueURL: q.url, QueueARN: q.arn,
		BatchSize: batchSize, Batches: batches, PartialFailures: partial,
	}
}

func options(t *testing.T, invoker triggers.Invoker) triggers.Options {
	t.Helper()
	return triggers.Options{
		Invoker: invoker, Region: "us-east-1", Account: "000000000000", NewID: func() string { return "id-1" },
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

// run runs the triggers in the background. stop stops them and waits for Run to return.
func run(t *testing.T, o triggers.Options) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { triggers.New(o).Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}
