package smart

import (
	"sync"
	"time"
)

const (
	// discoveryLife is how long a warm function believes a discovery. It bounds how long patients are sent to an
	// address that a health system has moved.
	discoveryLife = 10 * time.Minute
	// maxDiscoveries bounds the memory of a warm function.
	maxDiscoveries = 256
)

// Discoveries remembers what Discover found, for the minutes that a warm function serves many patients of one health
// system. Failures are not remembered. The zero value is empty and ready; it is safe for concurrent use.
type Discoveries struct {
	mu    sync.Mutex
	known map[string]discovery // by FHIR base
}

type discovery struct {
	server Server
	at     time.Time
}

// find returns a discovery that is young enough at now. None is ever found in nil.
func (d *Discoveries) find(base string, now time.Time) (Server, bool) {
	if d == nil {
		return Server{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	found, ok := d.known[base]
	return found.server, ok && now.Sub(found.at) < discoveryLife
}

// keep remembers a discovery made at now. In a full memory the oldest one makes room.
func (d *Discoveries) keep(base string, server Server, now time.Time) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = map[string]discovery{}
	}
	if _, known := d.known[base]; !known && len(d.known) >= maxDiscoveries {
		delete(d.known, d.oldest())
	}
	d.known[base] = discovery{server: server, at: now}
}

func (d *Discoveries) oldest() string {
	var oldest string
	for base, found := range d.known {
		if oldest == "" || found.at.Before(d.known[oldest].at) {
			oldest = base
		}
	}
	return oldest
}
