package contract

import (
	"maps"
	"slices"
	"sync"
)

// record tracks which declared parts have appeared in responses and events. It is safe for concurrent use.
type record struct {
	mu   sync.Mutex
	seen map[string]bool
}

// Unseen returns the names of the declared parts that have not appeared, in sorted order.
func (r *record) Unseen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.seen)), func(place string) bool { return r.seen[place] })
}

func (r *record) declare(place string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[place] = false
}

// note marks the declared parts in places as seen. Undeclared parts are ignored.
func (r *record) note(places ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, place := range places {
		if _, known := r.seen[place]; known {
			r.seen[place] = true
		}
	}
}
