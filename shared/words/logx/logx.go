// Package logx owns how the service logs: a JSON logger that redacts, and one wide line per unit of work (a request, a
// message, a scheduled run). It decides nothing about where lines go and keeps no logger itself:
// whoever starts a process makes one and hands it down.
package logx

import (
	"context"
	"io"
	"log/slog"
)

// New returns the JSON logger of a process. Whatever is logged through it passes the redaction of redact.go: it is
// the last line of defence, not a licence to log tokens, e-mail addresses or FHIR content.
func New(w io.Writer) *slog.Logger {
	lines := &joined{to: w}
	return slog.New(stamping{slog.NewJSONHandler(lines, &slog.HandlerOptions{ReplaceAttr: redact}), lines})
}

type requestIDKey struct{}

// WithRequestID puts the id of the unit of work into ctx: API Gateway's request id, or one of our own making.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id that WithRequestID put into ctx, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
