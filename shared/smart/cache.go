package smart

import (
	"sync"
	"time"

	"recordbridge/shared/flow"
)

const (
	// discoveryLife is how long a warm function believes a discovery. It bounds how long patients are sent to an
	// address that a health system has moved.
	discoveryLife = 10 * time.Minute
	// maxdiscoveries bounds the memory of a warm function.
	maxdiscoveries = 256
)

// discoveries remembers what Discover found, for the minutes that a warm function serves many patients of one health
// system. Failures are not remembered.
type discoveries struct {
	mu    sync.Mutex
	known map[string]discovery // by FHIR base
}

type discovery struct {
	found flow.Authority
	at    time.Time
}

// find returns a discovery that is young enough at now.
func (d *discoveries) find(base string, now time.Time) (flow.Authority, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, ok := d.known[base]
	return found.found, ok && now.Sub(found.at) < discoveryLife
}

// keep remembers a discovery made at now. In a full memory the oldest one makes room.
func (d *discoveries) keep(base string, found flow.Authority, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.known[base]; !known && len(d.known) >= maxdiscoveries {
		delete(d.known, d.oldest())
	}
	d.known[base] = discovery{found: found, at: now}
}

func (d *discoveries) oldest() string {
	var oldest string
	for base, found := range d.known {
		if oldest == "" || found.at.Before(d.known[oldest].at) {
			oldest = base
		}
	}
	return oldest
}
