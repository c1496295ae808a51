// Package lambdarun adapts AWS Lambda to the service's code and provides every function's main, Run. The package
// converts REST proxy events to requests for an http.Handler, SQS batches to single messages with separate results, and
// schedule events to function calls. It recovers from panics. If an event can't be handled, the invocation fails, and
// API Gateway's gateway response supplies the error envelope.
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

// guarded calls f and converts a panic to an error. The error includes the panic value only for a runtime error,
// because other values may quote client input.
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

// traced adds the invocation's trace header to ctx. aws-lambda-go stores the header in ctx under its own key.
func traced(ctx context.Context) context.Context {
	header, _ := ctx.Value("x-amzn-trace-id").(string)
	return trace.With(ctx, header)
}
