package triggers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/infra/local/triggers"
)

func TestSourceInvokesFunctionWithSQSEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		worker, q := &function{}, newQueue(t, 5)
		q.send(t, `{"task":"1"}`)
		o := options(t, worker)
		o.Sources = []triggers.Source{q.source(10, 2, true)}
		stop := run(t, o)
		synctest.Wait()
		defer stop()

		names, calls, _ := worker.invocations()
		if diff := cmp.Diff([]string{"WorkerFunction"}, names); diff != "" {
			t.Fatalf("functions (-want +got):\n%s", diff)
		}
		var got events.SQSEvent
		if err := json.Unmarshal(calls[0], &got); err != nil {
			t.Fatal(err)
		}
		want := events.SQSEvent{Records: []events.SQSMessage{{
			Body: `{"task":"1"}`, EventSource: "aws:sqs",
			EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:work", AWSRegion: "us-east-1",
			MessageAttributes: map[string]events.SQSMessageAttribute{},
		}}}
		ignore := cmpopts.IgnoreFields(events.SQSMessage{}, "MessageId", "ReceiptHandle", "Attributes", "Md5OfBody")
		if diff := cmp.Diff(want, got, ignore); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
		record := got.Records[0]
		if record.Attributes["ApproximateReceiveCount"] != "1" || record.Attributes["SentTimestamp"] == "" {
			t.Errorf("got attributes %v, want the receive count and the time of sending", record.Attributes)
		}
		if record.MessageId == "" || record.ReceiptHandle == "" || len(record.Md5OfBody) != 32 {
			t.Errorf("got %+v, want ids and digests", record)
		}
		if visible, inFlight := q.counts(t, q.url); visible != "0" || inFlight != "0" {
			t.Errorf("got %s visible and %s in flight, want the message deleted", visible, inFlight)
		}
	})
}

func TestSourceDeletesMessagesAccordingToBatchResponse(t *testing.T) {
	t.Parallel()
	answer := func(text string) func([]string) ([]byte, error) {
		return func([]string) ([]byte, error) { return []byte(text), nil }
	}
	tests := []struct {
		name    string
		all     bool // true if the function does not report partial batch failures
		respond func(ids []string) ([]byte, error)
		stay    []string // bodies of redelivered messages
	}{
		{name: "an empty list", respond: answer(`{"batchItemFailures":[]}`)},
		{name: "a null list", respond: answer(`{"batchItemFailures":null}`)},
		{name: "an empty object", respond: answer(`{}`)},
		{name: "null", respond: answer(`null`)},
		{name: "nothing", respond: answer(``)},
		{name: "one failure", stay: []string{"b"}, respond: func(ids []string) ([]byte, error) {
			return fmt.Appendf(nil, `{"batchItemFailures":[{"itemIdentifier":%q}]}`, ids[1]), nil
		}},
		{name: "no JSON", stay: []string{"a", "b", "c"}, respond: answer(`done`)},
		{
			name: "an empty identifier", stay: []string{"a", "b", "c"},
			respond: answer(`{"batchItemFailures":[{"itemIdentifier":""}]}`),
		},
		{
			name: "a null identifier", stay: []string{"a", "b", "c"},
			respond: answer(`{"batchItemFailures":[{"itemIdentifier":null}]}`),
		},
		{
			name: "a misspelt identifier", stay: []string{"a", "b", "c"},
			respond: answer(`{"batchItemFailures":[{"messageId":"1"}]}`),
		},
		{name: "a foreign identifier", stay: []string{"a", "b", "c"}, respond: func(ids []string) ([]byte, error) {
			return fmt.Appendf(nil, `{"batchItemFailures":[{"itemIdentifier":%q},{"itemIdentifier":"foreign"}]}`, ids[0]), nil
		}},
		{
			name: "an error", stay: []string{"a", "b", "c"},
			respond: func([]string) ([]byte, error) { return nil, errors.New("it crashed") },
		},
		{
			name: "an error without single reports", all: true, stay: []string{"a", "b", "c"},
			respond: func([]string) ([]byte, error) { return nil, errors.New("it crashed") },
		},
		{name: "any answer without single reports", all: true, respond: func(ids []string) ([]byte, error) {
			return fmt.Appendf(nil, `{"batchItemFailures":[{"itemIdentifier":%q}]}`, ids[1]), nil
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				worker, q := &function{}, newQueue(t, 5)
				worker.respond = func(payload []byte) ([]byte, error) {
					if _, calls, _ := worker.invocations(); len(calls) > 1 {
						return nil, nil
					}
					ids, _ := batch(t, payload)
					return test.respond(ids)
				}
				q.send(t, "a", "b", "c")
				o := options(t, worker)
				o.Sources = []triggers.Source{q.source(3, 1, !test.all)}
				stop := run(t, o)
				<-time.After(29 * time.Second) // one second of virtual time before the visibility timeout expires
				synctest.Wait()
				if _, calls, _ := worker.invocations(); len(calls) != 1 {
					t.Errorf("got %d invocations before the visibility timeout, want 1", len(calls))
				}
				<-time.After(2 * time.Second)
				synctest.Wait()
				stop()
				var again []string
				_, calls, _ := worker.invocations()
				for _, payload := range calls[1:] {
					_, bodies := batch(t, payload)
					again = append(again, bodies...)
				}
				slices.Sort(again)
				if diff := cmp.Diff(test.stay, again, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("messages that came again (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRepeatedlyFailingMessageMovesToDeadLetterQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 3)
		worker := &function{respond: func(payload []byte) ([]byte, error) {
			ids, bodies := batch(t, payload)
			if bodies[0] == "poison" {
				return fmt.Appendf(nil, `{"batchItemFailures":[{"itemIdentifier":%q}]}`, ids[0]), nil
			}
			return nil, nil
		}}
		o := options(t, worker)
		o.Sources = []triggers.Source{q.source(1, 1, true)}
		stop := run(t, o)
		q.send(t, "poison", "good")
		<-time.After(3 * time.Minute)
		synctest.Wait()
		stop()

		_, calls, times := worker.invocations()
		if len(calls) != 4 {
			t.Errorf("got %d invocations, want 3 for the poisoned message and 1 for the other", len(calls))
		}
		if gap := times[len(times)-1].Sub(times[len(times)-2]); gap != 30*time.Second {
			t.Errorf("got %v between the last two tries, want the visibility timeout", gap)
		}
		if visible, _ := q.counts(t, q.deadURL); visible != "1" {
			t.Errorf("got %s messages in the dead letter queue, want 1", visible)
		}
	})
}

// TestSlowBatchDoesNotDelayOtherBatches covers batches available when the slow batch starts and batches that arrive
// later.
func TestSlowBatchDoesNotDelayOtherBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		worker, q := &function{}, newQueue(t, 5)
		worker.respond = func(payload []byte) ([]byte, error) {
			if _, bodies := batch(t, payload); bodies[0] == "hangs" {
				<-time.After(25 * time.Second)
			}
			return nil, nil
		}
		q.send(t, "hangs", "hangs", "goes")
		o := options(t, worker)
		o.Sources = []triggers.Source{q.source(1, 3, true)}
		stop := run(t, o)
		<-time.After(time.Second)
		q.send(t, "goes")
		<-time.After(time.Second)
		if visible, inFlight := q.counts(t, q.url); visible != "0" || inFlight != "2" {
			t.Errorf("%s messages wait and %s are being worked on, want the two that hang alone", visible, inFlight)
		}
		stop()
	})
}

func TestSourceLimitsConcurrentBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		worker, q := &function{}, newQueue(t, 5)
		worker.respond = func([]byte) ([]byte, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			<-time.After(time.Second)
			return nil, nil
		}
		q.send(t, strings.Split("abcdefg", "")...)
		o := options(t, worker)
		o.Sources = []triggers.Source{q.source(1, 3, true)}
		stop := run(t, o)
		<-time.After(10 * time.Second)
		stop()
		if got := most.Load(); got != 3 {
			t.Errorf("got %d batches at once, want 3", got)
		}
		if _, calls, _ := worker.invocations(); len(calls) != 7 {
			t.Errorf("got %d invocations, want 7", len(calls))
		}
	})
}

func TestSourceRetriesUnreadableQueueAfterOneSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := &brokenQueue{}
		o := options(t, &function{})
		o.Sources = []triggers.Source{{Function: "WorkerFunction", Queue: broken, BatchSize: 1}}
		stop := run(t, o)
		<-time.After(10*time.Second + time.Millisecond)
		stop()
		if got := broken.reads.Load(); got != 11 {
			t.Errorf("got %d reads in 10 s, want 11", got)
		}
	})
}

func TestSourceDeletesHandledMessagesWhenRunnerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		worker, q := &function{}, newQueue(t, 5)
		var stop func()
		var stopped sync.WaitGroup
		worker.respond = func([]byte) ([]byte, error) {
			stopped.Go(stop)
			<-time.After(time.Second)
			return nil, nil
		}
		o := options(t, worker)
		o.Sources = []triggers.Source{q.source(1, 1, true)}
		stop = run(t, o)
		q.send(t, "a")
		synctest.Wait()
		stopped.Wait()
		if visible, inFlight := q.counts(t, q.url); visible != "0" || inFlight != "0" {
			t.Errorf("got %s visible and %s in flight, want the message deleted", visible, inFlight)
		}
	})
}

func TestSourceSkipsQueueWithoutGetQueueAttributesPermission(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed := &brokenQueue{refusals: 5}
		o := options(t, &function{})
		o.Sources = []triggers.Source{{Function: "WorkerFunction", Queue: closed, BatchSize: 1}}
		stop := run(t, o)
		<-time.After(4*time.Second + time.Millisecond)
		if got := closed.reads.Load(); got != 0 {
			t.Errorf("it was read %d times before it could be connected", got)
		}
		<-time.After(2 * time.Second)
		stop()
		if closed.reads.Load() == 0 {
			t.Error("it was not read when it could be connected")
		}
	})
}

// brokenQueue is a queue whose messages and attributes initially can't be read.
type brokenQueue struct {
	refusals int
	reads    atomic.Int64
}

func (b *brokenQueue) GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput,
	...func(*sqs.Options),
) (*sqs.GetQueueAttributesOutput, error) {
	if b.refusals > 0 {
		b.refusals--
		return nil, errors.New("access denied")
	}
	return &sqs.GetQueueAttributesOutput{}, nil
}

func (b *brokenQueue) ReceiveMessage(context.Context, *sqs.ReceiveMessageInput,
	...func(*sqs.Options),
) (*sqs.ReceiveMessageOutput, error) {
	b.reads.Add(1)
	return nil, errors.New("no connection")
}

func (b *brokenQueue) DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput,
	...func(*sqs.Options),
) (*sqs.DeleteMessageBatchOutput, error) {
	return nil, errors.New("no connection")
}

func batch(t *testing.T, payload []byte) (ids, bodies []string) {
	t.Helper()
	var event events.SQSEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		t.Error(err)
	}
	for _, record := range event.Records {
		ids, bodies = append(ids, record.MessageId), append(bodies, record.Body)
	}
	return ids, bodies
}

func TestDisabledMappingLeavesMessagesInQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		worker, q := &function{}, newQueue(t, 5)
		o := options(t, worker)
		o.Sources = []triggers.Source{q.source(10, 2, true)}
		all := triggers.New(o)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { all.Run(ctx) })
		defer running.Wait()
		defer cancel()
		synctest.Wait() // the source waits for messages

		if !all.Enable("WorkerFunction", q.arn, false) || all.Enable("WorkerFunction", "other", false) {
			t.Error("the wrong mapping was found")
		}
		q.send(t, `{"task":"1"}`)
		<-time.After(time.Minute)
		if names, _, _ := worker.invocations(); len(names) > 0 || all.Mappings()[0].Enabled {
			t.Errorf("%v were invoked by %+v", names, all.Mappings())
		}
		all.Enable("WorkerFunction", q.arn, true)
		synctest.Wait()
		if names, _, _ := worker.invocations(); len(names) != 1 || !all.Mappings()[0].Enabled {
			t.Errorf("%v were invoked by %+v, want one", names, all.Mappings())
		}
	})
}
