// Package logx defines how the service logs: a JSON logger that redacts, and one wide line per unit of work (a request,
// a message, a scheduled run). It does not choose the output and holds no logger itself: each process creates one and
// passes it down.
package logx

import (
	"context"
	"io"
	"log/slog"
)

// New returns the JSON logger of a process. All output passes the redaction in redact.go. Redaction is the last line of
// defence, not a licence to log tokens, e-mail addresses or FHIR content.
func New(w io.Writer) *slog.Logger {
	lines := &joined{to: w}
	return slog.New(stamping{slog.NewJSONHandler(lines, &slog.HandlerOptions{ReplaceAttr: redact}), lines})
}

type requestIDKey struct{}

// WithRequestID adds the id of the unit of work to ctx: API Gateway's request id, or one that the service generated.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id that WithRequestID added to ctx, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
