package lambdarun_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/trace"
)

const (
	invocationTrace = "1-5759e988-bd862e3fe1be46a994272793"
	requestTrace    = "1-67891233-abcdef012345678912345678"
)

// invoked returns an invocation's context as aws-lambda-go creates it.
func invoked(t *testing.T) context.Context {
	t.Helper()
	//nolint:revive,staticcheck // the library's key
	return context.WithValue(t.Context(), "x-amzn-trace-id", "Root="+invocationTrace+";Parent=53995c3f42cd8ad8;Sampled=1")
}

func traceIDs(t *testing.T, log *bytes.Buffer) []string {
	t.Helper()
	var all []string
	for lines := json.NewDecoder(log); lines.More(); {
		var line struct {
			TraceID string `json:"trace_id"`
		}
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line.TraceID)
	}
	return all
}

func TestMessageContinuesTraceFromRequest(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var seen []string
	handle := lambdarun.SQS(lambdarun.Process{Logger: logx.New(&log), Now: time.Now}, lambdarun.Worker[string]{
		Name: "worker", Concurrency: 1, Decode: func(body string) (string, error) { return body, nil },
		Handle: func(ctx context.Context, _ string) error {
			seen = append(seen, trace.ID(ctx))
			logx.Note(ctx, "worker.part")
			return nil
		},
	})
	_, err := handle(invoked(t), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "1", Attributes: map[string]string{"AWSTraceHeader": "Root=" + requestTrace}}, {MessageId: "2"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{requestTrace, invocationTrace}, seen); diff != "" {
		t.Errorf("the handler's traces (-want +got):\n%s", diff)
	}
	want := []string{requestTrace, requestTrace, invocationTrace, invocationTrace}
	if diff := cmp.Diff(want, traceIDs(t, &log)); diff != "" {
		t.Errorf("the lines' traces (-want +got):\n%s", diff)
	}
}

func TestHTTPAndScheduleUseInvocationTrace(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	failing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("trouble") })
	if _, err := lambdarun.HTTP(logx.New(&log), failing)(invoked(t), proxyEvent(t)); err == nil {
		t.Error("a panic was no failure")
	}
	run := lambdarun.Schedule(lambdarun.Process{Logger: logx.New(&log), Now: time.Now}, "sweeper",
		func(context.Context, time.Time) error { return nil })
	if err := run(invoked(t), lambdarun.Tick{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{invocationTrace, invocationTrace}, traceIDs(t, &log)); diff != "" {
		t.Errorf("the lines' traces (-want +got):\n%s", diff)
	}
}
