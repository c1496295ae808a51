package lambdarun

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/trace"
)

// SQSHandler handles batches from an event source mapping with ReportBatchItemFailures.
type SQSHandler func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Worker describes how a queue's messages of type M are processed.
type Worker[M any] struct {
	Name        string // prefix of the names of the worker's log lines ("<name>.message")
	Concurrency int    // number of a batch's messages that are processed concurrently
	Decode      func(body string) (M, error)
	Handle      func(ctx context.Context, message M) error
	// Together prepares a batch and returns the function that handles its messages in place of Handle. Handle still
	// processes messages from a Backlog. Together is nil if messages are handled without shared preparation.
	Together func(ctx context.Context, batch []M) func(ctx context.Context, message M) error
	Backlog  Backlog // the worker's queue if messages may wait long for external parties, otherwise nil
}

// SQS adapts a worker. At most w.Concurrency messages are processed concurrently. Each message is decoded, handled,
// acknowledged and logged separately:
//   - If decode fails, the message can never succeed, so it is logged with outcome "poison" and acknowledged.
//   - If handle returns an error or panics, only this message is retried. A business failure must not be returned as
//     an error; the worker records the failure and returns nil.
//   - If the invocation's deadline has passed, messages that have not begun are retried.
//
// With a Backlog, an invocation receives further messages while its own messages are waiting (Waits).
func SQS[M any](p Process, w Worker[M]) SQSHandler {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		ctx = traced(ctx)
		failed := make([]bool, len(batch.Records))
		s := newMessagePool(w.Concurrency)
		prepared := w.prepared(ctx, p, batch.Records)
		for i, record := range batch.Records {
			s.begin(ctx, func(ctx context.Context) { failed[i] = !process(ctx, p, prepared, record) })
		}
		if w.Backlog != nil && len(batch.Records) > 0 {
			takeMore(ctx, p, w, s, batch.Records[0])
		}
		s.running.Wait()
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		for i, record := range batch.Records {
			if failed[i] {
				response.BatchItemFailures = append(response.BatchItemFailures,
					events.SQSBatchItemFailure{ItemIdentifier: record.MessageId})
			}
		}
		return response, nil
	}
}

// prepared returns a worker for the messages of one batch. If the batch's preparation fails, its messages are still
// processed. A log line is written only if there is something to report.
func (w Worker[M]) prepared(ctx context.Context, p Process, batch []events.SQSMessage) Worker[M] {
	if w.Together == nil {
		return w
	}
	var messages []M
	for _, record := range batch {
		if message, err := w.Decode(record.Body); err == nil {
			messages = append(messages, message)
		}
	}
	ctx, line := logx.Begin(ctx)
	err := guarded(ctx, func(ctx context.Context) error {
		w.Handle = w.Together(ctx, messages)
		return nil
	})
	if err != nil {
		logx.Fail(ctx, err)
	}
	if !line.IsEmpty() {
		line.Emit(ctx, p.Logger, w.Name+".batch")
	}
	return w
}

// process handles a message and reports whether it can be acknowledged.
func process[M any](ctx context.Context, p Process, w Worker[M], record events.SQSMessage) bool {
	started := p.Now()
	ctx = trace.With(ctx, record.Attributes["AWSTraceHeader"]) // trace header of the request that caused the message
	ctx, line := logx.Begin(logx.WithRequestID(ctx, record.MessageId))
	receives, _ := strconv.Atoi(record.Attributes["ApproximateReceiveCount"])
	logx.Add(ctx, slog.String("queue", record.EventSourceARN[strings.LastIndex(record.EventSourceARN, ":")+1:]),
		slog.Int("receives", receives))

	outcome := "done"
	err := guarded(ctx, func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return err //nolint:wrapcheck // the log line says which message was not begun
		}
		message, err := w.Decode(record.Body)
		if err != nil {
			outcome = "poison"
			return err
		}
		return w.Handle(ctx, message)
	})
	if err != nil {
		logx.Fail(ctx, err)
		if outcome != "poison" {
			outcome = "retry"
		}
	}
	logx.Add(ctx, slog.String("outcome", outcome), slog.Int64("ms", p.Now().Sub(started).Milliseconds()))
	line.Emit(ctx, p.Logger, w.Name+".message")
	return outcome != "retry"
}
