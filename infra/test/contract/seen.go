package contract

import (
	"maps"
	"slices"
	"sync"
)

// record is what was declared and how much of it has been seen. Its methods may be called from many goroutines.
type record struct {
	mu   sync.Mutex
	seen map[string]bool // by the place; false until it is seen
}

// Unseen lists what is declared and was not seen, sorted.
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

// note tells that a place was seen. Of what was not declared nothing is noted.
func (r *record) note(places ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, place := range places {
		if _, known := r.seen[place]; known {
			r.seen[place] = true
		}
	}
}
