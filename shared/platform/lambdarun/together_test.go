package lambdarun_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/shared/platform/lambdarun"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

type handled struct {
	mu sync.Mutex
	by map[string][]string
}

func (h *handled) as(name string) func(context.Context, string) error {
	return func(_ context.Context, message string) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.by == nil {
			h.by = map[string][]string{}
		}
		h.by[name] = append(h.by[name], message)
		slices.Sort(h.by[name])
		if message == "fail" {
			return fault.New(fault.Unavailable, fault.CodeUnavailable, "Busy.")
		}
		return nil
	}
}

func TestTogetherCallbackReceivesDecodableMessages(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var got handled
	var prepared []string
	worker := lambdarun.SQS(process(&log), lambdarun.Worker[string]{
		Name: "webhook", Concurrency: 2, Decode: decode, Handle: got.as("Handle"),
		Together: func(_ context.Context, batch []string) func(context.Context, string) error {
			prepared = batch
			return got.as("Together")
		},
	})
	response, err := worker(t.Context(), batch("one", "poison", "fail", "two"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "fail", "two"}, prepared); diff != "" {
		t.Errorf("prepared (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{"Together": {"fail", "one", "two"}}, got.by); diff != "" {
		t.Errorf("handled (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"m-2"}, failures(response)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if strings.Contains(log.String(), "webhook.batch") {
		t.Errorf("a line of a preparation with nothing to tell: %s", &log)
	}
}

func TestHandleProcessesMessagesWhenTogetherCallbackPanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var got handled
	worker := lambdarun.SQS(process(&log), lambdarun.Worker[string]{
		Name: "webhook", Concurrency: 2, Decode: decode, Handle: got.as("Handle"),
		Together: func(context.Context, []string) func(context.Context, string) error { panic(errors.New("SENTINEL")) },
	})
	response, err := worker(t.Context(), batch("one", "two"))
	if err != nil || len(response.BatchItemFailures) != 0 {
		t.Errorf("got %+v, %v", response, err)
	}
	if diff := cmp.Diff(map[string][]string{"Handle": {"one", "two"}}, got.by); diff != "" {
		t.Errorf("handled (-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), "webhook.batch") || strings.Contains(log.String(), "SENTINEL") {
		t.Errorf("log: %s", &log)
	}
}

func TestTogetherCallbackEmitsMetrics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var got handled
	worker := lambdarun.SQS(process(&log), lambdarun.Worker[string]{
		Name: "webhook", Concurrency: 2, Decode: decode, Handle: got.as("Handle"),
		Together: func(ctx context.Context, _ []string) func(context.Context, string) error {
			logx.Measure(ctx, metric.Count(metric.Throttled, "DynamoDB"))
			return got.as("Together")
		},
	})
	if _, err := worker(t.Context(), batch("one")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), `"Throttled":1`) {
		t.Errorf("the log lacks the metric: %s", &log)
	}
}
