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

// maxTold is how many types a log line names.
const maxTold = 20

// tellSuccess puts on the log line that the task's files are there, and what is not in them.
func tellSuccess(ctx context.Context, task export.Task) {
	result := "success"
	if task.Shortfall().Complete != nil {
		result = "partial"
		logx.Add(ctx, slog.String("missing_types", missingTypes(task)))
	}
	logx.Add(ctx, slog.String("result", result))
	countEnd(ctx, task, result)
}

// countEnd counts an export that has ended, and how long it took.
func countEnd(ctx context.Context, task export.Task, result string) {
	logx.Measure(ctx, metric.Count(metric.Exports, result),
		metric.Seconds(metric.ExportSeconds, result, task.FinishedAt.Sub(task.CreatedAt)))
}

// tellFailure puts on the log line that the task has failed, and why.
func tellFailure(ctx context.Context, task export.Task, result export.Result) {
	logx.Add(ctx, logx.Failed(), slog.String("reason", string(result.Reason)))
	countEnd(ctx, task, "failed")
	logx.Measure(ctx, metric.Count(metric.ExportFailures, string(result.Reason)))
	if missing := missingTypes(task); missing != "" {
		logx.Add(ctx, slog.String("missing_types", missing))
	}
	tellCause(ctx, result.Cause)
}

// tellSkipped puts on the log line that the message has found nothing to claim: another one has the task, it is put
// off or in line, or it has ended.
func tellSkipped(ctx context.Context) {
	logx.Add(ctx, slog.String("result", "skipped"))
}

// tellWaiting puts on the log line that the task waits in line, where it costs nothing, until others
// of its tenant have ended.
func tellWaiting(ctx context.Context) {
	logx.Add(ctx, slog.String("result", "in_line"))
}

// tellPutOff puts on the log line that a later run goes on with the task, and what it waits for.
func tellPutOff(ctx context.Context, task export.Task, result export.Result, until time.Time) {
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

// missingTypes are the types of which something is missing, each with the reason and the status that say most about it.
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
