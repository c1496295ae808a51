package source

import (
	"context"
	"slices"
	"sync"

	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir"
)

const (
	// aheadLimit is the largest document that is read before its turn to be written, in bytes. A larger one is asked for
	// again when it is the next, so that only one such is held at a time.
	aheadLimit = 2 << 20
	// aheadRoom is how many bytes all documents together may have that are read before their turn.
	aheadRoom = 16 << 20
)

// turn is where who reads one document after the other stands in the line of those whose documents are written. Its
// fields belong to the limiter.
type turn struct {
	isNext bool  // it is its turn: nothing is written before its next document is there
	ahead  int   // documents that were read and are not taken
	held   int64 // bytes of those, and of the one that is read, as far as they are before its turn
}

// Limiter lets requests through to one server: no more at once than it bears, and no more documents before their turn
// than there is room for. Who is next goes first, all others in the order in which they came.
type Limiter struct {
	mu     sync.Mutex
	flight flight
	busy   int   // requests under way
	held   int64 // bytes of documents before their turn
	line   []*visitor

	oneByOne bool // nothing is read ahead until the server has answered
}

// visitor is who waits at the limiter.
type visitor struct {
	turn   *turn // nil for one who reads no document before its turn
	passed chan struct{}
	number int
	beside int
	room   int64 // that is held for its document
}

// isNext reports whether nothing is written before what it asks for is there.
func (v *visitor) isNext() bool { return v.turn == nil || v.turn.isNext && v.turn.ahead == 0 }

// Bears is how many requests at once the server was found to bear, for Expect; 0 where it has shown no limit.
func (l *Limiter) Bears() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight.shown()
}

// OneByOne has nothing read ahead until the server has answered a request. A run begins so after one that ended with
// a demand to leave the server alone: the refusal of what is read ahead must not be all that comes of a wait. It is
// called before the first request.
func (l *Limiter) OneByOne() { l.oneByOne = true }

// IsOneByOne reports whether nothing is read ahead for now.
func (l *Limiter) IsOneByOne() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oneByOne && !l.flight.hasAnswered()
}

// Expect begins with what earlier exports and runs have shown: how many requests at once the server has borne with
// ease, and beyond how many it refuses; 0 for what is not known. It is called before the first request that needs a
// token.
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

// enter waits until a request may be made. After nil there must be a leave.
func (l *Limiter) enter(ctx context.Context, of *turn) (*visitor, error) {
	v := &visitor{turn: of, passed: make(chan struct{})}
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
		l.depart(v, 0)
	}
	l.admit()
	return nil, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
}

// leave ends a request that has brought a document of some bytes, and notes how it went.
func (l *Limiter) leave(v *visitor, bytes int64, how landing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how.number, how.beside = v.number, max(v.beside, l.busy) // the server may have got others before it
	l.flight.land(how)
	l.depart(v, bytes)
	l.admit()
}

// depart gives a visitor's place back; a document before its turn goes on to be held.
func (l *Limiter) depart(v *visitor, bytes int64) {
	l.busy--
	if v.room > 0 {
		l.hold(v.turn, bytes-v.room)
	}
}

// hurry lets the requests of a turn pass first, since it is the next.
func (l *Limiter) hurry(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.isNext = true
	l.admit()
}

// keep notes that a document of a turn was read, and waits to be taken.
func (l *Limiter) keep(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.ahead++
}

// take gives the room back of a document of a turn, which is written now.
func (l *Limiter) take(of *turn, room int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.ahead--
	l.hold(of, -min(room, of.held))
	l.admit()
}

// release gives all room of a turn back, whose documents are not wanted any more.
func (l *Limiter) release(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold(of, -of.held)
	l.admit()
}

// limit is how many requests may be under way now.
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

// admit lets those pass for whom there is a place and room.
func (l *Limiter) admit() {
	for l.busy < l.flight.limit && len(l.line) > 0 {
		at := max(0, slices.IndexFunc(l.line, (*visitor).isNext))
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
		v.number, v.beside = l.flight.depart(l.busy), l.busy
		close(v.passed)
	}
}

// signOf reads the end of a request.
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
		return nothing
	}
	return calm
}
