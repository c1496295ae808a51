package source

import (
	"context"
	"slices"
	"sync"

	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir"
)

const (
	// aheadLimit is the largest document that is read before its turn to be written, in bytes. A larger one is requested
	// again in its turn, so that only one such document is held at a time.
	aheadLimit = 2 << 20
	// aheadRoom is the total size of all documents that are read before their turn, in bytes.
	aheadRoom = 16 << 20
)

// turn is the position of a reader, which reads one document after the other, in the order of writing. Its fields
// belong to the limiter.
type turn struct {
	isNext bool  // it is next: nothing is written before its next document arrives
	ahead  int   // documents read and not yet taken
	held   int64 // their bytes, plus those of the document being read ahead of its turn
}

// Limiter admits requests to one server: no more at once than the server handles, and no more documents before their
// turn than there is room for. The next turn goes first, all others in the order of their arrival.
type Limiter struct {
	mu     sync.Mutex
	flight flight
	busy   int   // requests under way
	held   int64 // bytes of documents held before their turn
	line   []*waiter

	oneByOne bool // nothing is read ahead until the server has responded
}

// waiter is a request that waits at the limiter.
type waiter struct {
	turn   *turn // nil for a request that reads no document ahead
	passed chan struct{}
	number int
	beside int
	room   int64 // bytes reserved for its document
}

// isNext reports whether writing waits for this request's document.
func (v *waiter) isNext() bool { return v.turn == nil || v.turn.isNext && v.turn.ahead == 0 }

// ShownLimit returns the number of concurrent requests that the server was found to handle, for Expect; 0 if it has
// shown no limit.
func (l *Limiter) ShownLimit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight.shown()
}

// OneByOne prevents reading ahead until the server has responded to a request. A run begins this way if the previous
// one ended because the server demanded a pause: a refusal of requests sent ahead must not waste that wait. Call it
// before the first request.
func (l *Limiter) OneByOne() { l.oneByOne = true }

// IsOneByOne reports whether reading ahead is currently prevented.
func (l *Limiter) IsOneByOne() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oneByOne && !l.flight.hasAnswered()
}

// Expect sets the results of earlier exports and runs: the number of concurrent requests that the server has handled
// with ease, and the number beyond which it refuses; 0 for an unknown value. Call it before the first request that
// needs a token.
func (l *Limiter) Expect(begin, limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flight.expect(begin, limit)
	l.admit()
}

// Load returns the outcome of this run's concurrent requests.
func (l *Limiter) Load() known.Experience {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight.load()
}

// enter waits until a request may be sent. If it returns a nil error, the caller must call leave.
func (l *Limiter) enter(ctx context.Context, of *turn) (*waiter, error) {
	v := &waiter{turn: of, passed: make(chan struct{})}
	l.mu.Lock()
	l.line = append(l.line, v)
	l.admit()
	l.mu.Unlock()
	select {
	case <-v.passed:
		return v, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.line, v); at >= 0 {
		l.line = slices.Delete(l.line, at, at+1)
	} else {
		l.freeSlot(v, 0)
	}
	l.admit()
	return nil, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
}

// leave ends a request that returned a document of the given size, and records how it ended.
func (l *Limiter) leave(v *waiter, bytes int64, how completion) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how.number, how.beside = v.number, max(v.beside, l.busy) // the server may have received others before it
	l.flight.complete(how)
	l.freeSlot(v, bytes)
	l.admit()
}

// freeSlot frees a waiter's slot; a document read before its turn stays held.
func (l *Limiter) freeSlot(v *waiter, bytes int64) {
	l.busy--
	if v.room > 0 {
		l.hold(v.turn, bytes-v.room)
	}
}

// prioritize lets the requests of a turn pass first, since it is the next.
func (l *Limiter) prioritize(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.isNext = true
	l.admit()
}

// keep records that a document of a turn was read and waits to be taken.
func (l *Limiter) keep(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.ahead++
}

// take frees the room of a turn's document, which is now being written.
func (l *Limiter) take(of *turn, room int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.ahead--
	l.hold(of, -min(room, of.held))
	l.admit()
}

// release frees all room of a turn whose documents are no longer needed.
func (l *Limiter) release(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold(of, -of.held)
	l.admit()
}

// limit returns the number of requests that may be under way now.
func (l *Limiter) limit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight.limit
}

// hold adds to the room that a turn holds.
func (l *Limiter) hold(of *turn, more int64) {
	l.held += more
	of.held += more
}

// admit lets waiting requests pass while there are free slots and room.
func (l *Limiter) admit() {
	for l.busy < l.flight.limit && len(l.line) > 0 {
		at := max(0, slices.IndexFunc(l.line, (*waiter).isNext))
		v := l.line[at]
		if !v.isNext() {
			if l.held+aheadLimit > aheadRoom {
				return
			}
			v.room = aheadLimit
			l.hold(v.turn, v.room)
		}
		l.line = slices.Delete(l.line, at, at+1)
		l.busy++
		v.number, v.beside = l.flight.start(l.busy), l.busy
		close(v.passed)
	}
}

// signOf classifies the end of a request.
func signOf(rate fhir.Rate, failed *fhir.RequestError) sign {
	switch {
	case failed == nil && isScarce(rate):
		return strain
	case failed == nil:
		return calm
	case failed.Class == fhir.Limited, failed.Status == 503, failed.RetryAfter > 0:
		return refusal
	case failed.Class == fhir.Network, failed.Status == 408, failed.Status == 502, failed.Status == 504:
		return strain
	case failed.Class == fhir.ServerFault, failed.Class == fhir.Content:
		return unrelated
	}
	return calm
}
