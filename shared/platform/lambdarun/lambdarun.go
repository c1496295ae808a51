// Package lambdarun adapts AWS Lambda to the service's code. It provides the main of every function (Run) and converts
// REST proxy events to requests of an http.Handler, SQS batches to single messages with separate results, and schedules
// to calls. It recovers from panics in all three. It has no business rules and writes no error envelope: an event that
// cannot be served fails the invocation, and API Gateway's gateway response then contains the envelope.
package lambdarun

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"

	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/trace"
)

// guarded calls f and turns a panic into an error. The panic value is shown only if it is a runtime error, because any
// other may quote a client.
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

// traced adds the invocation's trace header to ctx. aws-lambda-go stores it there under its own key.
func traced(ctx context.Context) context.Context {
	header, _ := ctx.Value("x-amzn-trace-id").(string)
	return trace.With(ctx, header)
}
