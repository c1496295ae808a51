package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/words/fault"
)

// EndpointHealth stores the health of the catalogue's endpoints, like store.CatalogHealth. The zero value represents a
// new stack.
type EndpointHealth struct {
	mu         sync.Mutex
	run        int64
	until      time.Time
	records    map[string]health.Record
	discovered map[string]health.DiscoveredURLs
	pointers   map[string]health.Pointer
	calls      map[string]int
}

// Calls returns the number of calls to a method.
func (h *EndpointHealth) Calls(method string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[method]
}

// Begin behaves like store.CatalogHealth.Begin.
func (h *EndpointHealth) Begin(_ context.Context, now, until time.Time) (int64, error) {
	defer h.lock("Begin")()
	if !now.After(h.until) && !h.until.IsZero() {
		return 0, fault.Stale()
	}
	h.until = until
	h.run++
	return h.run, nil
}

// Records behaves like store.CatalogHealth.Records.
func (h *EndpointHealth) Records(_ context.Context, mode string) ([]health.Record, error) {
	defer h.lock("Records")()
	all := slices.Collect(maps.Values(h.records))
	return slices.DeleteFunc(all, func(r health.Record) bool { return r.Mode != mode }), nil
}

// SaveRecord behaves like store.CatalogHealth.SaveRecord.
func (h *EndpointHealth) SaveRecord(_ context.Context, r health.Record) error {
	defer h.lock("SaveRecord")()
	at := r.Mode + "#" + r.EndpointID
	if h.records[at].Rev != r.Rev {
		return fault.Stale()
	}
	r.Rev++
	h.records[at] = r
	return nil
}

// Forget behaves like store.CatalogHealth.Forget.
func (h *EndpointHealth) Forget(_ context.Context, r health.Record) error {
	defer h.lock("Forget")()
	at := r.Mode + "#" + r.EndpointID
	if known, isThere := h.records[at]; !isThere || known.Rev != r.Rev {
		return fault.Stale()
	}
	delete(h.records, at)
	delete(h.discovered, at)
	return nil
}

// DiscoveredURLs behaves like store.CatalogHealth.DiscoveredURLs.
func (h *EndpointHealth) DiscoveredURLs(_ context.Context, mode string) ([]health.DiscoveredURLs, error) {
	defer h.lock("DiscoveredURLs")()
	all := slices.Collect(maps.Values(h.discovered))
	return slices.DeleteFunc(all, func(s health.DiscoveredURLs) bool { return s.Mode != mode }), nil
}

// SaveDiscoveredURLs behaves like store.CatalogHealth.SaveDiscoveredURLs.
func (h *EndpointHealth) SaveDiscoveredURLs(_ context.Context, s health.DiscoveredURLs) error {
	defer h.lock("SaveDiscoveredURLs")()
	at := s.Mode + "#" + s.EndpointID
	if s.SeenAt.Before(h.discovered[at].SeenAt) {
		return fault.Stale()
	}
	h.discovered[at] = s
	return nil
}

// Pointer behaves like store.CatalogHealth.Pointer.
func (h *EndpointHealth) Pointer(_ context.Context, mode string) (health.Pointer, error) {
	defer h.lock("Pointer")()
	p := h.pointers[mode]
	p.Mode = mode
	return p, nil
}

// MovePointer behaves like store.CatalogHealth.MovePointer.
func (h *EndpointHealth) MovePointer(_ context.Context, p health.Pointer) error {
	defer h.lock("MovePointer")()
	if h.pointers[p.Mode].Rev != p.Rev {
		return fault.Stale()
	}
	p.Rev++
	h.pointers[p.Mode] = p
	return nil
}

// lock counts a call to method, locks h, and returns the function that unlocks it.
func (h *EndpointHealth) lock(method string) func() {
	h.mu.Lock()
	if h.calls == nil {
		h.records, h.discovered, h.pointers, h.calls = map[string]health.Record{}, map[string]health.DiscoveredURLs{},
			map[string]health.Pointer{}, map[string]int{}
	}
	h.calls[method]++
	return h.mu.Unlock
}
