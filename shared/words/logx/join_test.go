package logx_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

type countedWrites struct {
	bytes.Buffer

	count int
}

func (w *countedWrites) Write(p []byte) (int, error) {
	w.count++
	return w.Buffer.Write(p)
}

func TestEmitCombinesLinesIntoOneWrite(t *testing.T) {
	t.Parallel()
	var log countedWrites
	logger := logx.New(&log).With(slog.String("service", "test"))
	ctx, event := logx.Begin(t.Context())
	logx.Note(ctx, "part")
	logx.Measure(ctx, metric.Count(metric.WebhookAttempts, "delivered"),
		metric.Seconds(metric.WebhookSeconds, "", time.Second))
	event.Emit(ctx, logger, "unit.done")
	if lines := strings.Count(log.String(), "\n"); lines != 4 || log.count != 1 {
		t.Errorf("%d lines in %d writes, want 4 in 1:\n%s", lines, log.count, &log.Buffer)
	}
	logger.InfoContext(ctx, "next")
	if lines := strings.Count(log.String(), "\n"); lines != 5 || log.count != 2 {
		t.Errorf("%d lines in %d writes after the next line, want 5 in 2", lines, log.count)
	}
}
