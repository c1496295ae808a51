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

// Event is the wide log line of one unit of work while it fills up. It is safe for concurrent use.
type Event struct {
	mu    sync.Mutex
	level slog.Level
	attrs []slog.Attr
	notes []note

	measured metric.Samples
}

// note is a line of its own about a part of the unit of work.
type note struct {
	message string
	attrs   []slog.Attr
}

type eventKey struct{}

// Begin starts the line of a unit of work. Everything that runs under the returned context can add to it.
func Begin(ctx context.Context) (context.Context, *Event) {
	event := &Event{}
	return context.WithValue(ctx, eventKey{}, event), event
}

// Add puts attrs on the line of the unit of work that ctx belongs to; a key that is there already is replaced.
// Without a unit of work it does nothing.
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

// Note writes a line about a part of the unit of work that ctx belongs to, such as one of several deliveries, when the
// unit's own line is written; it says whose it is as that does, unless attrs say otherwise. message is a constant.
func Note(ctx context.Context, message string, attrs ...slog.Attr) {
	event, ok := ctx.Value(eventKey{}).(*Event)
	if !ok {
		return
	}
	event.mu.Lock()
	defer event.mu.Unlock()
	event.notes = append(event.notes, note{message, attrs})
}

// Measure has metrics written when the line of the unit of work that ctx belongs to is, each as a line of its own.
func Measure(ctx context.Context, samples ...metric.Sample) {
	event, ok := ctx.Value(eventKey{}).(*Event)
	if !ok {
		return
	}
	event.mu.Lock()
	defer event.mu.Unlock()
	event.measured = event.measured.Add(samples...)
}

// Fail records that and why the unit of work failed: the code, the field and the spot always, the cause
// only where it is our own (Internal and Unavailable), since the text of other causes may repeat what a
// client or a health system sent.
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

// IsEmpty reports whether nothing was put on the line.
func (e *Event) IsEmpty() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.attrs) == 0 && len(e.notes) == 0 && len(e.measured) == 0
}

// Emit writes the line, once, at the end of the unit of work. message is a constant that names the unit, such as
// "http.request".
func (e *Event) Emit(ctx context.Context, logger *slog.Logger, message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer together(logger)()
	belongs := belonging(ctx)
	for _, attr := range belongs {
		e.put(attr)
	}
	logger.LogAttrs(ctx, e.level, message, e.attrs...) //nolint:sloglint // callers pass a constant
	for _, n := range e.notes {
		//nolint:sloglint // callers pass a constant
		logger.LogAttrs(ctx, slog.LevelInfo, n.message, slices.Concat(n.attrs, belongs, e.whose(n))...)
	}
	for _, line := range e.measured.Lines() {
		logger.LogAttrs(ctx, slog.LevelInfo, "metric", append(line, belongs...)...)
	}
}

// belonging are what all lines of a unit of work have: its id, and that of the request which it goes back to.
func belonging(ctx context.Context) []slog.Attr {
	var attrs []slog.Attr
	if id := RequestID(ctx); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	if id := trace.ID(ctx); id != "" {
		attrs = append(attrs, slog.String("trace_id", id))
	}
	return attrs
}

// whose are what the unit of work tells of whom it is for, as far as the note does not: a part of it is found as the
// whole is (docs/operate/monitoring.md, "Log fields").
func (e *Event) whose(n note) []slog.Attr {
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
