// Package logx implements the service's logging: a JSON logger that redacts sensitive data, and one log line with all
// attributes for each unit of work (a request, a message or a scheduled run). Each process creates its own logger; the
// package has no global logger.
package logx

import (
	"context"
	"io"
	"log/slog"
)

// New returns a JSON logger that writes to w and redacts sensitive data as described in redact.go. Redaction is only
// the last line of defence: code must not log tokens, email addresses or FHIR content.
func New(w io.Writer) *slog.Logger {
	lines := &joined{to: w}
	return slog.New(stamping{slog.NewJSONHandler(lines, &slog.HandlerOptions{ReplaceAttr: redact}), lines})
}

type requestIDKey struct{}

// WithRequestID returns a copy of ctx with the ID of the unit of work. The ID comes from API Gateway or was generated
// by the service.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the ID set by WithRequestID. It returns "" if ctx has no ID.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
