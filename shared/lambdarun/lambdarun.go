// Package lambdarun is the one adapter between AWS Lambda and our code: REST proxy events become requests of an
// http.Handler, SQS batches become single messages with a result each, schedules become calls. It guards all three
// against panics. It knows no business rule and writes no error envelope: an event that it cannot serve fails the
// invocation, and API Gateway's gateway response carries the envelope then.
package lambdarun

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"recordbridge/shared/logx"
)

// Handler is what Start accepts: the result of HTTP, SQS or Schedule.
type Handler interface {
	HTTPHandler | SQSHandler | ScheduleHandler
}

// Start runs a Lambda function and does not return. build runs once per cold start; when it fails, the process logs
// why and ends, and Lambda tries again with a new one. Only bootstrap/main.go calls it.
func Start[H Handler](build func(context.Context, *slog.Logger) (H, error)) {
	ctx := context.Background()
	logger := logx.New(os.Stdout)
	handler, err := build(ctx, logger)
	if err != nil {
		logger.LogAttrs(ctx, slog.LevelError, "start.failed", slog.String("cause", err.Error()))
		os.Exit(1)
	}
	lambda.Start(handler)
}

// Options are what a worker needs around its function.
type Options struct {
	Logger *slog.Logger
	Now    func() time.Time
	Name   string // of the worker; its log lines are named by it: "<name>.message", "<name>.run"
	// Concurrency is how many messages of one batch are processed at the same time; zero means one.
	Concurrency int
}

// guarded calls f and turns a panic into an error. The panic's value is shown only when the runtime made it, since
// any other may repeat what a client sent.
func guarded(ctx context.Context, f func(context.Context) error) (err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		text := "a value of the handler's own"
		if failure, ok := value.(runtime.Error); ok {
			text = failure.Error()
		}
		stack := debug.Stack()
		logx.Add(ctx, slog.String("stack", string(stack[:min(len(stack), 4096)])))
		err = fmt.Errorf("panic: %s", text)
	}()
	return f(ctx)
}
