package triggers

import (
	"context"
	"sync"
)

// mapping is a source with its state, which an operator can change.
type mapping struct {
	source Source

	mu      sync.Mutex
	enabled chan struct{} // closed while the mapping is enabled
	stop    func()        // ends the receive call in progress; nil if there is none
}

// Mapping describes an event source mapping.
type Mapping struct {
	Function, QueueARN string
	BatchSize          int
	Enabled            bool
}

// Mappings returns the event source mappings in the order of Options.Sources.
func (t *Triggers) Mappings() []Mapping {
	all := make([]Mapping, 0, len(t.mappings))
	for _, m := range t.mappings {
		all = append(all, Mapping{
			Function: m.source.Function, QueueARN: m.source.QueueARN, BatchSize: m.source.BatchSize, Enabled: m.isEnabled(),
		})
	}
	return all
}

// Enable enables or disables the mapping of a queue to a function, and reports whether the mapping exists. Batches in
// progress complete even if the mapping is disabled.
func (t *Triggers) Enable(function, queueARN string, enabled bool) bool {
	for _, m := range t.mappings {
		if m.source.Function == function && m.source.QueueARN == queueARN {
			m.enable(enabled)
			return true
		}
	}
	return false
}

func (m *mapping) isEnabled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open()
}

// open reports whether the mapping is enabled. The caller must hold the lock.
func (m *mapping) open() bool {
	select {
	case <-m.enabled:
		return true
	default:
		return false
	}
}

func (m *mapping) enable(enabled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case enabled == m.open():
	case enabled:
		close(m.enabled)
	default:
		m.enabled = make(chan struct{})
		if m.stop != nil {
			m.stop()
		}
	}
}

// receiving waits until the mapping is enabled, and returns a context that ends when ctx ends or the mapping is
// disabled. The caller must call stop after its receive call.
func (m *mapping) receiving(ctx context.Context) (receiving context.Context, stop func()) {
	receiving, cancel := context.WithCancel(ctx)
	for {
		m.mu.Lock()
		wait := m.enabled
		if m.open() {
			m.stop = cancel
			m.mu.Unlock()
			return receiving, m.stopped
		}
		m.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return receiving, cancel
		}
	}
}

func (m *mapping) stopped() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stop()
	m.stop = nil
}
