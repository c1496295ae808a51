package lambdarun_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/platform/lambdarun"
)

// backlog is a queue that returns the messages from next. If there are no messages, it waits for a second.
type backlog struct {
	next func(nth int) ([]string, error) // returns message bodies, which also serve as message IDs

	mu       sync.Mutex
	receives int
	deleted  []string
}

func (b *backlog) Receive(context.Context) ([]events.SQSMessage, error) {
	b.mu.Lock()
	b.receives++
	bodies, err := b.next(b.receives)
	b.mu.Unlock()
	if err == nil && len(bodies) == 0 {
		<-time.After(time.Second)
	}
	records := make([]events.SQSMessage, 0, len(bodies))
	for _, body := range bodies {
		records = append(records, events.SQSMessage{MessageId: body, Body: body, EventSourceARN: "deliveries"})
	}
	return records, err
}

func (b *backlog) Delete(_ context.Context, message events.SQSMessage) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deleted = append(b.deleted, message.MessageId)
	if message.MessageId == "undeleted" {
		return errors.New("no connection")
	}
	return nil
}

func patient(log *bytes.Buffer, concurrency int, b *backlog,
	handle func(context.Context, string) error,
) lambdarun.SQSHandler {
	return lambdarun.SQS(process(log), lambdarun.Worker[string]{
		Name: "webhook", Concurrency: concurrency, Decode: decode,
		Handle: handle, Backlog: b,
	})
}

func wait(ctx context.Context, d time.Duration) {
	stop := lambdarun.Waits(ctx)
	defer stop()
	<-time.After(d)
}

// TestWaitingInvocationReceivesMoreMessages checks that a message that waits for half a minute doesn't delay other
// messages. The invocation deletes the messages that it receives from the queue, and reports only its original batch to
// Lambda.
func TestWaitingInvocationReceivesMoreMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		began, at := time.Now(), map[string]time.Duration{}
		var mu sync.Mutex
		handle := func(ctx context.Context, message string) error {
			mu.Lock()
			at[message] = time.Since(began).Truncate(time.Second)
			mu.Unlock()
			switch message {
			case "waits":
				wait(ctx, 30*time.Second)
			case "fails":
				return errors.New("no table")
			}
			return nil
		}
		b := &backlog{next: func(nth int) ([]string, error) {
			return map[int][]string{1: {"one", "fails", "poison", "undeleted"}, 11: {"two"}}[nth],
				map[int]error{6: errors.New("no queue")}[nth]
		}}
		response, err := patient(&log, 1, b, handle)(t.Context(), batch("waits", "quick"))
		if err != nil || len(response.BatchItemFailures) != 0 {
			t.Errorf("got %+v, %v", response, err)
		}
		want := map[string]time.Duration{"waits": 0, "quick": 0, "one": 0, "fails": 0, "undeleted": 0, "two": 9 * time.Second}
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("begun (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"one", "poison", "undeleted", "two"}, b.deleted); diff != "" {
			t.Errorf("deleted (-want +got):\n%s", diff)
		}
		if took := time.Since(began); took < 30*time.Second || took > 31*time.Second {
			t.Errorf("the invocation took %v", took)
		}
		for _, want := range []string{
			`"msg":"webhook.receive"`, `"cause":"no queue"`, `"msg":"webhook.delete"`,
			`"cause":"no connection"`,
		} {
			if strings.Count(log.String(), want) != 1 {
				t.Errorf("the log lacks %s: %s", want, &log)
			}
		}
	})
}

func TestBusyInvocationReceivesNoMoreMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &backlog{next: func(int) ([]string, error) { return nil, nil }}
		began := time.Now()
		handle := func(ctx context.Context, message string) error {
			if message == "works long" {
				<-time.After(2 * time.Second)
			}
			wait(ctx, 400*time.Millisecond)
			return nil
		}
		if _, err := patient(&bytes.Buffer{}, 1, b, handle)(t.Context(), batch("one", "works long")); err != nil {
			t.Fatal(err)
		}
		if b.receives != 0 || time.Since(began) != 2800*time.Millisecond {
			t.Errorf("asked for more %d times, and took %v", b.receives, time.Since(began))
		}
	})
}

// TestWaitingMessagesDoNotRaiseConcurrency checks that the number of messages in progress, excluding waiting messages,
// stays within the limit, however many are queued.
func TestWaitingMessagesDoNotRaiseConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var now, most, done int
		handle := func(ctx context.Context, message string) error {
			if message == "waits" {
				wait(ctx, 10*time.Second)
				return nil
			}
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			<-time.After(100 * time.Millisecond)
			mu.Lock()
			now--
			done++
			mu.Unlock()
			return nil
		}
		b := &backlog{next: func(int) ([]string, error) { return strings.Fields("1 2 3 4 5 6 7 8 9 10"), nil }}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if _, err := patient(&bytes.Buffer{}, 3, b, handle)(ctx, batch("waits", "waits")); err != nil {
			t.Fatal(err)
		}
		if most != 3 || done < 250 {
			t.Errorf("%d at once and %d in all, want 3 at once, and nearly 300", most, done)
		}
	})
}

// TestInvocationsStopReceivingAtDifferentTimes checks that invocations stop at different times and receive no messages
// that they have no time to process.
func TestInvocationsStopReceivingAtDifferentTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout, longest = 5 * time.Minute, 30 * time.Second
		began, stops := time.Now(), make([]time.Duration, 4)
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		var invocations sync.WaitGroup
		for i := range stops {
			var mu sync.Mutex
			handle := func(ctx context.Context, _ string) error {
				mu.Lock()
				stops[i] = time.Since(began)
				mu.Unlock()
				wait(ctx, longest)
				return nil
			}
			b := &backlog{next: func(nth int) ([]string, error) { return []string{"waits"}[:nth%2], nil }}
			began := batch("waits")
			began.Records[0].MessageId = fmt.Sprintf("%d of four", i)
			invocations.Go(func() { _, _ = patient(&bytes.Buffer{}, 10, b, handle)(ctx, began) })
		}
		invocations.Wait()
		slices.Sort(stops)
		if stops[0] < 2*time.Minute-2*time.Second || stops[3] > timeout-2*longest || stops[3]-stops[0] < longest ||
			time.Since(began) > timeout*95/100 {
			t.Errorf("the last messages began after %v, and the last invocation ended after %v", stops, time.Since(began))
		}
	})
}
