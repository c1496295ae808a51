package metric_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/testkit/measured"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

func TestLinesUseEmbeddedMetricFormat(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	ctx, unit := logx.Begin(t.Context())
	logx.Measure(ctx, metric.Count(metric.Exports, "failed"),
		metric.Seconds(metric.ExportSeconds, "failed", 90*time.Second))
	logx.Measure(ctx, metric.Count(metric.ExportFailures, "token_refresh_failure"))
	unit.Emit(ctx, logx.New(&log).With(slog.String(metric.Stack, "hospital")), "unit.done")
	_, lines, _ := bytes.Cut(log.Bytes(), []byte("\n"))
	first, second, _ := bytes.Cut(lines, []byte("\n"))
	var got map[string]any
	if err := json.Unmarshal(first, &got); err != nil {
		t.Fatal(err)
	}
	written, err := time.Parse(time.RFC3339Nano, got["time"].(string)) //nolint:forcetypeassert // a panic fails the test
	if err != nil {
		t.Fatal(err)
	}
	of := func(name, unit string) map[string]any {
		return map[string]any{
			"Namespace": "Recordbridge", "Dimensions": []any{[]any{"service", "outcome"}},
			"Metrics": []any{map[string]any{"Name": name, "Unit": unit}},
		}
	}
	want := map[string]any{
		"time": got["time"], "level": "INFO", "msg": "metric", "service": "hospital", "outcome": "failed", "Exports": 1.0,
		"ExportSeconds": 90.0,
		"_aws": map[string]any{
			"Timestamp":         float64(written.UnixMilli()),
			"CloudWatchMetrics": []any{of("Exports", "Count"), of("ExportSeconds", "Seconds")},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("line (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"ExportFailures token_refresh_failure": 1}, measured.In(t, second)); diff != "" {
		t.Errorf("the other line (-want +got):\n%s", diff)
	}
}

func TestSamplesMergeByMetricAndDimension(t *testing.T) {
	t.Parallel()
	var all metric.Samples
	for range 250 {
		all = all.Add(metric.Count(metric.WebhookAttempts, "delivered"),
			metric.Seconds(metric.WebhookSeconds, "", -time.Second))
	}
	all = all.Add(metric.Count(metric.WebhookAttempts, "timeout"),
		metric.Seconds(metric.OverdueSeconds, "task", time.Second))
	var log bytes.Buffer
	for _, line := range all.Lines() {
		logx.New(&log).LogAttrs(t.Context(), slog.LevelInfo, "metric", line...)
	}
	want := map[string]int{
		"WebhookAttempts delivered": 250, "WebhookAttempts timeout": 1, "WebhookSeconds": 100,
		"OverdueSeconds task": 1,
	}
	if diff := cmp.Diff(want, measured.In(t, log.Bytes())); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if !bytes.Contains(log.Bytes(), []byte(`"WebhookSeconds":[0,0,`)) {
		t.Error("a span of less than nothing was told")
	}
	if !bytes.Contains(log.Bytes(), []byte(`"Dimensions":[["service"],["service","kind"]]`)) {
		t.Error("what is overdue is not told for the whole stack")
	}
}
