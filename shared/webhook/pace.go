package webhook

import (
	"sync"
	"time"
)

// Pacer spares slow endpoints the bookkeeping of their rate. Places in an endpoint's rate are handed out by the store,
// which costs a call; a process lets one attempt to a subscription through without asking, once in 500 places' time.
// With 50 processes, which is as many as template.yaml lets run, that is a tenth more than the rate at most. The zero
// value is ready; it is safe for concurrent use.
type Pacer struct {
	mu   sync.Mutex
	last map[string]time.Time // by subscription
}

const (
	spared     = 500
	pacerSize  = 4096
	burstEvery = time.Second // an endpoint may take the places of a second at once
	// lateBy is how late a place may be used: messages come up to a second late, because their delays are whole seconds, and
	// wait a little in the queue. Later, after a backlog, so many would come at once that the rate would mean nothing.
	lateBy = 2 * time.Second
)

// spares reports whether an attempt may go ahead without asking the store.
func (p *Pacer) spares(s Subscription, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, seen := p.last[s.ID]; seen && now.Sub(last) < spared*s.interval() {
		return false
	}
	if p.last == nil || len(p.last) >= pacerSize {
		p.last = map[string]time.Time{}
	}
	p.last[s.ID] = now
	return true
}
