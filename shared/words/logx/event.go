package logx

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/metric"
	"recordbridge/shared/words/trace"
)

// Event collects the attributes of the single log line that is written for one unit of work. An Event is safe for
// concurrent use.
type Event struct {
	mu    sync.Mutex
	level slog.Level
	attrs []slog.Attr
	notes []note

	measured metric.Samples
}

type note struct {
	message string
	attrs   []slog.Attr
}

type eventKey struct{}

// Begin starts a unit of work. Code that uses the returned context can add attributes to the unit's log line.
func Begin(ctx context.Context) (context.Context, *Event) {
	event := &Event{}
	return context.WithValue(ctx, eventKey{}, event), event
}

// Add sets attributes on the log line of ctx's unit of work, replacing attributes with the same keys. Add does nothing
// if ctx has no unit of work.
func Add(ctx context.Context, attrs ...slog.Attr) {
	event, ok := ctx.Value(eventKey{}).(*Event)
	if !ok {
		return
	}
	event.mu.Lock()
	defer event.mu.Unlock()
	for _, attr := range attrs {
		event.put(attr)
	}
}

// Note adds a separate line about a part of ctx's unit of work, such as one of several deliveries. The line is written
// together with the unit's own line and has the unit's owner attributes, unless attrs overrides them. message must be a
// constant.
func Note(ctx context.Context, message string, attrs ...slog.Attr) {
	event, ok := ctx.Value(eventKey{}).(*Event)
	if !ok {
		return
	}
	event.mu.Lock()
	defer event.mu.Unlock()
	event.notes = append(event.notes, note{message, attrs})
}

// Measure adds metrics to ctx's unit of work. Each metric is written on a separate line when the unit of work's log
// line is written.
func Measure(ctx context.Context, samples ...metric.Sample) {
	event, ok := ctx.Value(eventKey{}).(*Event)
	if !ok {
		return
	}
	event.mu.Lock()
	defer event.mu.Unlock()
	event.measured = event.measured.Add(samples...)
}

// Fail records that the unit of work failed. The error's code, field and spot are always logged. The error's cause is
// logged only for the service's own failures (Internal and Unavailable), because other causes may quote data from a
// client or a health system.
func Fail(ctx context.Context, err error) {
	failure := fault.Of(err)
	Add(ctx, Failed(), slog.String("error", string(failure.Code)), slog.String("error_kind", string(failure.Kind)))
	if failure.Field != "" {
		Add(ctx, slog.String("field", failure.Field))
	}
	Add(ctx, Spot(fault.SpotOf(err))...)
	if failure.Kind != fault.Internal && failure.Kind != fault.Unavailable {
		return
	}
	Add(ctx, slog.String("cause", err.Error()))
	if event, ok := ctx.Value(eventKey{}).(*Event); ok {
		event.mu.Lock()
		defer event.mu.Unlock()
		event.level = slog.LevelError
	}
}

// Text returns the value of a string attribute, or "" if the event has no such attribute.
func (e *Event) Text(key string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, attr := range e.attrs {
		if attr.Key == key && attr.Value.Kind() == slog.KindString {
			return attr.Value.String()
		}
	}
	return ""
}

// IsEmpty reports whether the event has no attributes.
func (e *Event) IsEmpty() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.attrs) == 0 && len(e.notes) == 0 && len(e.measured) == 0
}

// Emit writes the log line. Call Emit once, at the end of the unit of work. The message is a constant that names the
// unit, such as "http.request".
func (e *Event) Emit(ctx context.Context, logger *slog.Logger, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer together(logger)()
	belongs := commonAttrs(ctx)
	for _, attr := range belongs {
		e.put(attr)
	}
	logger.LogAttrs(ctx, e.level, message, e.attrs...) //nolint:sloglint // callers pass a constant
	for _, n := range e.notes {
		//nolint:sloglint // callers pass a constant
		logger.LogAttrs(ctx, slog.LevelInfo, n.message, slices.Concat(n.attrs, belongs, e.ownerAttrs(n))...)
	}
	for _, line := range e.measured.Lines() {
		logger.LogAttrs(ctx, slog.LevelInfo, "metric", append(line, belongs...)...)
	}
}

// commonAttrs returns attributes for the unit of work's ID and the originating request's ID. All log lines of a unit of
// work share these attributes.
func commonAttrs(ctx context.Context) []slog.Attr {
	var attrs []slog.Attr
	if id := RequestID(ctx); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	if id := trace.ID(ctx); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	return attrs
}

// ownerAttrs returns the unit's owner attributes, except for those that the note itself sets. These attributes allow a
// search for the owner to find both the note and the unit of work (docs/operate/monitoring.md, "Log fields").
func (e *Event) ownerAttrs(n note) []slog.Attr {
	var attrs []slog.Attr
	for _, attr := range e.attrs {
		if slices.Contains([]string{"org_id", "mode", "attempt_id"}, attr.Key) && !has(n.attrs, attr.Key) {
			attrs = append(attrs, attr)
		}
	}
	return attrs
}

func has(attrs []slog.Attr, key string) bool {
	return slices.ContainsFunc(attrs, func(attr slog.Attr) bool { return attr.Key == key })
}

func (e *Event) put(attr slog.Attr) {
	same := func(old slog.Attr) bool { return old.Key == attr.Key }
	if i := slices.IndexFunc(e.attrs, same); i >= 0 {
		e.attrs[i] = attr
		return
	}
	e.attrs = append(e.attrs, attr)
}
