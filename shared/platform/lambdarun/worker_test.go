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
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

func fixedClock() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

func process(log *bytes.Buffer) lambdarun.Process {
	return lambdarun.Process{Logger: logx.New(log), Now: fixedClock}
}

func serve(log *bytes.Buffer, concurrency int, handle func(context.Context, string) error) lambdarun.SQSHandler {
	return lambdarun.SQS(process(log), lambdarun.Worker[string]{
		Name: "webhook", Concurrency: concurrency, Decode: decode,
		Handle: handle,
	})
}

func batch(bodies ...string) events.SQSEvent {
	var event events.SQSEvent
	for i, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: fmt.Sprintf("m-%d", i), Body: body, EventSourceARN: "arn:aws:sqs:eu-central-1:1:deliveries",
			Attributes: map[string]string{"ApproximateReceiveCount": "2"},
		})
	}
	return event
}

func decode(body string) (string, error) {
	if body == "poison" {
		return "", errors.New("not a message")
	}
	return body, nil
}

func failures(response events.SQSEventResponse) []string {
	ids := make([]string, 0, len(response.BatchItemFailures))
	for _, failure := range response.BatchItemFailures {
		ids = append(ids, failure.ItemIdentifier)
	}
	return ids
}

func TestSQSReportsResultPerMessage(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var mu sync.Mutex
	var handled []string
	handle := func(_ context.Context, message string) error {
		mu.Lock()
		defer mu.Unlock()
		handled = append(handled, message)
		switch message {
		case "fail":
			return fault.New(fault.Unavailable, fault.CodeUnavailable, "Busy.")
		case "panic":
			panic("SENTINEL")
		}
		return nil
	}
	worker := serve(&log, 1, handle)
	response, err := worker(t.Context(), batch("one", "fail", "poison", "panic", "two"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m-1", "m-3"}, failures(response)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if want := []string{"one", "fail", "panic", "two"}; !slices.Equal(handled, want) {
		t.Errorf("handled %v, want %v", handled, want)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 5 || strings.Contains(log.String(), "SENTINEL") {
		t.Fatalf("log: %s", &log)
	}
	for i, outcome := range []string{"done", "retry", "poison", "retry", "done"} {
		for _, want := range []string{
			`"msg":"webhook.message"`, `"queue":"deliveries"`, `"receives":2`,
			fmt.Sprintf(`"request_id":"m-%d"`, i), `"outcome":"` + outcome + `"`,
		} {
			if !strings.Contains(lines[i], want) {
				t.Errorf("line %d lacks %s: %s", i, want, lines[i])
			}
		}
	}
}

func TestSQSReturnsEmptyFailureListOnSuccess(t *testing.T) {
	t.Parallel()
	worker := serve(&bytes.Buffer{}, 2, func(context.Context, string) error { return nil })
	response, err := worker(t.Context(), batch("one", "two"))
	if err != nil || response.BatchItemFailures == nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("got %+v, %v; want an empty list, since null is taken for a malformed answer", response, err)
	}
}

func TestSQSLimitsConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		started := time.Now()
		handle := func(context.Context, string) error {
			<-time.After(time.Second)
			return nil
		}
		worker := serve(&log, 3, handle)
		if _, err := worker(t.Context(), batch("1", "2", "3", "4", "5", "6", "7")); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(started); got != 3*time.Second {
			t.Errorf("7 messages of 1 s, 3 at a time, took %v", got)
		}
	})
}

func TestSQSRetriesMessagesNotStartedBeforeDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	handle := func(context.Context, string) error {
		cancel()
		return nil
	}
	worker := serve(&bytes.Buffer{}, 1, handle)
	response, err := worker(ctx, batch("one", "two", "three"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"m-1", "m-2"}, failures(response)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

func TestSchedulePassesScheduledTime(t *testing.T) {
	t.Parallel()
	planned := time.Date(2026, 11, 21, 8, 59, 0, 0, time.UTC)
	for name, c := range map[string]struct{ sent, want time.Time }{
		"with a time":    {planned, planned},
		"without a time": {time.Time{}, fixedClock()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			var got time.Time
			serve := lambdarun.Schedule(process(&log), "webhook", func(_ context.Context, at time.Time) error {
				got = at
				return nil
			})
			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "invocation-1"})
			if err := serve(ctx, lambdarun.Tick{ID: "tick-1", Time: c.sent}); err != nil || !got.Equal(c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
			if !strings.Contains(log.String(), `"msg":"webhook.run"`) ||
				!strings.Contains(log.String(), `"request_id":"invocation-1"`) {
				t.Errorf("log: %s", &log)
			}
		})
	}
}

func TestScheduleFailsInvocationOnError(t *testing.T) {
	t.Parallel()
	errSweep := errors.New("sweep failed")
	for name, handle := range map[string]func(context.Context, time.Time) error{
		"error": func(context.Context, time.Time) error { return errSweep },
		"panic": func(context.Context, time.Time) error { panic(errSweep) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			if err := lambdarun.Schedule(process(&log), "webhook", handle)(t.Context(),
				lambdarun.Tick{ID: "tick-1"}); err == nil {
				t.Error("no error")
			}
			if !strings.Contains(log.String(), `"level":"ERROR"`) || !strings.Contains(log.String(), `"request_id":"tick-1"`) {
				t.Errorf("log: %s", &log)
			}
		})
	}
}
