package lambdarun

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"recordbridge/shared/logx"
)

// SQSHandler serves batches of an event source mapping with ReportBatchItemFailures.
type SQSHandler func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// SQS adapts a worker. Each message is decoded, handled and answered for on its own, at most o.Concurrency at the
// same time, and leaves one log line:
//   - decode fails: the message can never succeed. It is logged with outcome "poison" and acknowledged.
//   - handle returns an error or panics: only this message comes back. A business failure is not such an error; the
//     worker records it and returns nil.
//   - the invocation's deadline has passed: messages not yet begun come back.
func SQS[M any](o Options, decode func(body string) (M, error), handle func(context.Context, M) error) SQSHandler {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		failed := make([]bool, len(batch.Records))
		slots := make(chan struct{}, max(o.Concurrency, 1))
		var running sync.WaitGroup
		for i, record := range batch.Records {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				failed[i] = !process(ctx, o, record, decode, handle)
			})
		}
		running.Wait()
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		for i, record := range batch.Records {
			if failed[i] {
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: record.MessageId})
			}
		}
		return response, nil
	}
}

// process handles one message and reports whether it is done with.
func process[M any](ctx context.Context, o Options, record events.SQSMessage, decode func(string) (M, error), handle func(context.Context, M) error) bool {
	started := o.Now()
	ctx, line := logx.Begin(logx.WithRequestID(ctx, record.MessageId))
	receives, _ := strconv.Atoi(record.Attributes["ApproximateReceiveCount"])
	logx.Add(ctx, slog.String("queue", record.EventSourceARN[strings.LastIndex(record.EventSourceARN, ":")+1:]), slog.Int("receives", receives))

	outcome := "done"
	err := guarded(ctx, func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return err //nolint:wrapcheck // the log line says which message was not begun
		}
		message, err := decode(record.Body)
		if err != nil {
			outcome = "poison"
			return err
		}
		return handle(ctx, message)
	})
	if err != nil {
		logx.Fail(ctx, err)
		if outcome != "poison" {
			outcome = "retry"
		}
	}
	logx.Add(ctx, slog.String("outcome", outcome), slog.Int64("ms", o.Now().Sub(started).Milliseconds()))
	line.Emit(ctx, o.Logger, o.Name+".message")
	return outcome != "retry"
}
