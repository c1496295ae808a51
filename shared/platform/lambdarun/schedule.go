package lambdarun

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"recordbridge/shared/words/logx"
)

// Tick holds the "id" and "time" fields of an EventBridge schedule event.
type Tick struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
}

// ScheduleHandler handles a schedule's events.
type ScheduleHandler func(context.Context, Tick) error

// Schedule adapts a scheduled function. The function's log lines are named "<name>.run". handle receives the run's
// scheduled time, or the current time if the event has none. An error or a panic fails the invocation.
func Schedule(p Process, name string, handle func(context.Context, time.Time) error) ScheduleHandler {
	return func(ctx context.Context, tick Tick) error {
		started := p.Now()
		if tick.Time.IsZero() {
			tick.Time = started
		}
		ctx, line := logx.Begin(logx.WithRequestID(traced(ctx), invocationID(ctx, tick)))
		err := guarded(ctx, func(ctx context.Context) error { return handle(ctx, tick.Time) })
		if err != nil {
			logx.Fail(ctx, err)
		}
		logx.Add(ctx, slog.Time("scheduled_for", tick.Time), slog.Int64("ms", p.Now().Sub(started).Milliseconds()))
		line.Emit(ctx, p.Logger, name+".run")
		return err
	}
}

// invocationID returns Lambda's request ID, which is the same for each retry of an event. Without a request ID, it
// returns the event's ID.
func invocationID(ctx context.Context, tick Tick) string {
	if invocation, ok := lambdacontext.FromContext(ctx); ok {
		return invocation.AwsRequestID
	}
	return tick.ID
}
