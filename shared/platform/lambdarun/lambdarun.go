// Package lambdarun is the one adapter between AWS Lambda and our code: it is the main of every function (Run); REST
// proxy events become requests of an http.Handler, SQS batches become single messages with a result each, schedules
// become calls. It guards all three against panics. It knows no business rule and writes no error envelope: an event
// that it cannot serve fails the invocation, and API Gateway's gateway response carries the envelope then.
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

// traced puts the trace header of the invocation into ctx, which aws-lambda-go has put there under a name of its own.
func traced(ctx context.Context) context.Context {
	header, _ := ctx.Value("x-amzn-trace-id").(string)
	return trace.With(ctx, header)
}
