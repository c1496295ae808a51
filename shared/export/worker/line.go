package worker

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

// maxTold is the maximum number of types listed in a log line.
const maxTold = 20

// logSuccess logs a task's success. If data is missing from the files, the log line lists the affected types.
func logSuccess(ctx context.Context, task export.Task) {
	result := "success"
	if task.Shortfall().Complete != nil {
		result = "partial"
		logx.Add(ctx, slog.String("missing_types", missingTypes(task)))
	}
	logx.Add(ctx, slog.String("result", result))
	countEnd(ctx, task, result)
}

// countEnd counts a completed export and records its duration.
func countEnd(ctx context.Context, task export.Task, result string) {
	logx.Measure(ctx, metric.Count(metric.Exports, result),
		metric.Seconds(metric.ExportSeconds, result, task.FinishedAt.Sub(task.CreatedAt)))
}

func logFailure(ctx context.Context, task export.Task, result export.Result) {
	logx.Add(ctx, logx.Failed(), slog.String("reason", string(result.Reason)))
	countEnd(ctx, task, "failed")
	logx.Measure(ctx, metric.Count(metric.ExportFailures, string(result.Reason)))
	if missing := missingTypes(task); missing != "" {
		logx.Add(ctx, slog.String("missing_types", missing))
	}
	tellCause(ctx, result.Cause)
}

// logSkipped logs that the task could not be claimed because another worker holds it, it is deferred or in line, or it
// has ended.
func logSkipped(ctx context.Context) {
	logx.Add(ctx, slog.String("result", "skipped"))
}

// logWaiting logs that the task waits in line until other exports of the same tenant have ended. Waiting does not use
// up the task's time budget.
func logWaiting(ctx context.Context) {
	logx.Add(ctx, slog.String("result", "in_line"))
}

// logDeferred logs that a later run will continue the task, and why the task has to wait.
func logDeferred(ctx context.Context, task export.Task, result export.Result, until time.Time) {
	logx.Add(ctx, slog.String("result", "put_off"), slog.Time("next_at", until))
	if result.Kind == export.Retryable {
		logx.Add(ctx, slog.String("reason", string(result.Reason)), slog.Int("setbacks", task.Failures))
	}
	tellCause(ctx, result.Cause)
}

func tellCause(ctx context.Context, cause error) {
	if cause == nil {
		return
	}
	logx.Add(ctx, slog.Any("cause", cause))
	logx.Add(ctx, logx.Spot(fault.SpotOf(cause))...)
}

// missingTypes lists the types with losses, each with its most significant reason and status.
func missingTypes(task export.Task) string {
	var told []string
	for _, o := range task.Outcome {
		if !o.Reason.Worse(export.LossNotGranted) {
			continue
		}
		one := o.Type + " " + string(o.Reason)
		if o.Status != 0 {
			one += " " + strconv.Itoa(o.Status)
		}
		told = append(told, one)
	}
	if more := len(told) - maxTold; more > 0 {
		told = append(told[:maxTold], strconv.Itoa(more)+" more")
	}
	return strings.Join(told, ", ")
}
