package serve

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

const (
	// askEvery is how long what is live is taken for granted.
	askEvery = 10 * time.Second
	// sleptAfter is how long a load may be under way beside requests. Lambda freezes a process between its requests: a
	// load that is not through by then has slept, perhaps with a connection that is dead by now.
	sleptAfter = 2 * time.Second
	// loadTime bounds a load beside requests.
	loadTime = 30 * time.Second
)

// holder holds what is live of each mode, and exchanges it for what is newer while requests are answered from what is
// there. Make one with newHolder.
type holder[T any] struct {
	pointers Pointers
	load     func(ctx context.Context, mode string, e Edition) (T, error)
	now      func() time.Time

	lock  sync.Mutex
	modes map[string]*held[T]
}

// held is one mode's. Its lock is held while the store is asked, and while somebody has to wait for a load.
type held[T any] struct {
	lock    sync.Mutex
	there   bool
	edition Edition
	value   T
	askedAt time.Time
	next    *loading[T]
}

// loading is a load beside requests. Nothing but done is touched by its goroutine.
type loading[T any] struct {
	edition Edition
	begun   time.Time
	cancel  context.CancelFunc
	done    chan loaded[T] // takes one
}

type loaded[T any] struct {
	value T
	err   error
}

// newHolder makes a holder of what load makes of an Edition that is not the zero one. load may be called while what it
// made before is in use; it is called for a mode once at a time.
func newHolder[T any](pointers Pointers, now func() time.Time,
	load func(ctx context.Context, mode string, e Edition) (T, error),
) *holder[T] {
	return &holder[T]{pointers: pointers, load: load, now: now, modes: map[string]*held[T]{}}
}

// Live is what is live of a mode; a zero Edition and value before the first publication. The first call for a mode
// waits for its load, and so does one that finds a load which has slept. What cannot be renewed stays, and the
// request's log line says so; where there is nothing yet, the error is fault.Unavailable.
func (h *holder[T]) Live(ctx context.Context, mode string) (Edition, T, error) {
	m := h.of(mode)
	m.lock.Lock()
	defer m.lock.Unlock()
	m.collect(ctx)
	slept := m.next != nil && h.now().Sub(m.next.begun) >= sleptAfter
	if m.there && !slept && (m.next != nil || h.now().Sub(m.askedAt) < askEvery) {
		return m.edition, m.value, nil
	}
	if err := h.renew(ctx, mode, m, slept); err != nil {
		if !m.there {
			var none T
			logx.Measure(ctx, metric.Count(metric.StaleCatalogues, ""))
			return Edition{}, none, fault.New(fault.Unavailable, fault.CodeUnavailable,
				"The catalogue can't be read right now. Please try again.").Because(err)
		}
		report(ctx, err)
	}
	return m.edition, m.value, nil
}

func (h *holder[T]) of(mode string) *held[T] {
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.modes[mode] == nil {
		h.modes[mode] = &held[T]{}
	}
	return h.modes[mode]
}

// renew asks what is live, and loads it if it is something else: beside requests, or at once when there is nothing to
// answer from, or when a load has slept. It is asked again after askEvery, however it ends.
func (h *holder[T]) renew(ctx context.Context, mode string, m *held[T], slept bool) error {
	m.giveUp()
	m.askedAt = h.now()
	edition, err := h.pointers.live(ctx, mode)
	if err != nil {
		return err
	}
	switch {
	case edition == Edition{}: // what there is stays: a catalogue does not go away, but its row may
		m.there = true
		return nil
	case m.there && m.edition == edition:
		return nil
	case m.there && m.edition != Edition{} && !slept:
		m.begin(ctx, h, mode, edition)
		return nil
	}
	value, err := h.load(ctx, mode, edition)
	if err != nil {
		return err
	}
	m.there, m.edition, m.value = true, edition, value
	return nil
}

// begin loads beside requests.
func (m *held[T]) begin(ctx context.Context, h *holder[T], mode string, edition Edition) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime)
	next := &loading[T]{edition: edition, begun: h.now(), cancel: cancel, done: make(chan loaded[T], 1)}
	m.next = next
	go func() {
		defer cancel()
		value, err := h.load(ctx, mode, edition)
		next.done <- loaded[T]{value, err}
	}()
}

// collect takes what a load beside requests has come to, if it has ended.
func (m *held[T]) collect(ctx context.Context) {
	if m.next == nil {
		return
	}
	select {
	case got := <-m.next.done:
		if got.err == nil {
			m.edition, m.value = m.next.edition, got.value
		} else {
			report(ctx, got.err)
		}
		m.giveUp()
	default:
	}
}

// giveUp ends a load beside requests, if there is one.
func (m *held[T]) giveUp() {
	if m.next != nil {
		m.next.cancel()
		m.next = nil
	}
}

// report says on the request's log line that what is served was not renewed, and counts it: an alarm does, too
// (docs/operate/runbooks/catalogue-stale.md).
func report(ctx context.Context, err error) {
	logx.Add(ctx, slog.Bool("catalog_stale", true), slog.String("catalog_failure", fault.ClassOf(err)))
	logx.Measure(ctx, metric.Count(metric.StaleCatalogues, ""))
}
