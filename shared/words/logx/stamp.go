package logx

import (
	"context"
	"log/slog"

	"recordbridge/shared/words/metric"
)

// stamping copies a line's time into the line's metric metadata, where CloudWatch expects the timestamp.
type stamping struct {
	next  slog.Handler
	lines *joined // output to which next writes
}

// Enabled implements slog.Handler.
func (h stamping) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h stamping) Handle(ctx context.Context, line slog.Record) error {
	stamped := slog.NewRecord(line.Time, line.Level, line.Message, line.PC)
	line.Attrs(func(attr slog.Attr) bool {
		if document, ok := attr.Value.Any().(metric.Document); ok {
			attr.Value = slog.AnyValue(document.At(line.Time))
		}
		stamped.AddAttrs(attr)
		return true
	})
	return h.next.Handle(ctx, stamped) //nolint:wrapcheck // nobody looks at a logger's errors
}

// WithAttrs implements slog.Handler.
func (h stamping) WithAttrs(attrs []slog.Attr) slog.Handler {
	return stamping{h.next.WithAttrs(attrs), h.lines}
}

// WithGroup implements slog.Handler.
func (h stamping) WithGroup(name string) slog.Handler {
	return stamping{h.next.WithGroup(name), h.lines}
}
