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
	// askEvery is the interval between checks of the live version.
	askEvery = 10 * time.Second
	// sleptAfter is the duration after which a background load is considered frozen, because Lambda freezes processes
	// between requests. A frozen load's connection may be dead.
	sleptAfter = 2 * time.Second
	loadTime   = 30 * time.Second
)

// holder stores each mode's live value, which can be replaced while requests use the old one.
type holder[T any] struct {
	pointers Pointers
	load     func(ctx context.Context, mode string, e Edition) (T, error)
	now      func() time.Time

	lock  sync.Mutex
	modes map[string]*held[T]
}

// held holds a mode's live value. The lock is held while the store is read, and while a request waits for a load.
type held[T any] struct {
	lock    sync.Mutex
	there   bool
	edition Edition
	value   T
	askedAt time.Time
	next    *loading[T]
}

// loading is a background load. The goroutine that loads the value accesses only the field done.
type loading[T any] struct {
	edition Edition
	begun   time.Time
	cancel  context.CancelFunc
	done    chan loaded[T] // buffers one value
}

type loaded[T any] struct {
	value T
	err   error
}

// newHolder returns a holder that calls load to create values from nonzero Editions. It may call load while the
// previous result is in use, but never concurrently for the same mode.
func newHolder[T any](pointers Pointers, now func() time.Time,
	load func(ctx context.Context, mode string, e Edition) (T, error),
) *holder[T] {
	return &holder[T]{pointers: pointers, load: load, now: now, modes: map[string]*held[T]{}}
}

// Live returns a mode's live Edition and value, both zero if nothing has been published. The first call for a mode
// waits for that mode's load, as does a call that detects a frozen load. If the value can't be renewed, Live returns
// the current value and reports the error in the request's log line. If there is no current value, it returns
// fault.Unavailable.
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

// renew reads the live Edition. If it has changed, renew loads it in the background, or immediately if there is no
// current value or if a load was frozen. The next check takes place after askEvery, even if this one fails.
func (h *holder[T]) renew(ctx context.Context, mode string, m *held[T], slept bool) error {
	m.giveUp()
	m.askedAt = h.now()
	edition, err := h.pointers.live(ctx, mode)
	if err != nil {
		return err
	}
	switch {
	case edition == Edition{}: // A published catalogue never disappears, but its row may, so the current value is kept.
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

// begin starts a background load.
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

// collect stores the result of a finished background load.
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

// giveUp cancels the background load, if any.
func (m *held[T]) giveUp() {
	if m.next != nil {
		m.next.cancel()
		m.next = nil
	}
}

// report notes in the request's log line that the served data could not be renewed, and counts the failure for an alarm
// (docs/operate/runbooks/catalogue-stale.md).
func report(ctx context.Context, err error) {
	logx.Add(ctx, slog.Bool("catalog_stale", true), slog.String("catalog_failure", fault.ClassOf(err)))
	logx.Measure(ctx, metric.Count(metric.StaleCatalogues, ""))
}
