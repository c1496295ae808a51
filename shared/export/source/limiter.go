package source

import (
	"context"
	"slices"
	"sync"

	"recordbridge/shared/export/known"
	"recordbridge/shared/fhir"
)

const (
	// aheadLimit is the maximum size, in bytes, of a document that is read ahead. A larger document is requested again
	// when it is due to be written, so only one such document is in memory at a time.
	aheadLimit = 2 << 20
	// aheadRoom is the maximum total size, in bytes, of all documents read ahead.
	aheadRoom = 16 << 20
)

// turn records when a reader's document may be written and how much memory is reserved for its documents. A reader
// reads one document at a time. The Limiter's mutex guards these fields.
type turn struct {
	isNext bool  // whether the reader's document is the next to be written; no other is written before it arrives
	ahead  int   // number of documents read but not yet returned by Take
	held   int64 // bytes reserved for documents that Take has not returned, including a read in progress
}

// Limiter limits requests to a single server. It bounds both the number of concurrent requests and the memory for
// documents read ahead. It admits requests for the next document to be written first, and then all other requests in
// order of arrival.
type Limiter struct {
	mu     sync.Mutex
	flight flight
	busy   int   // number of requests in flight
	held   int64 // total bytes reserved for documents read ahead
	line   []*waiter

	oneByOne bool // whether reading ahead is disabled until the server responds
}

type waiter struct {
	turn   *turn // nil for a request that does not read ahead
	passed chan struct{}
	number int
	beside int
	room   int64 // bytes reserved for the requested document
}

// isNext reports whether the requested document is the next one to be written.
func (v *waiter) isNext() bool { return v.turn == nil || v.turn.isNext && v.turn.ahead == 0 }

// ShownLimit returns the observed limit on concurrent requests, or 0 if none was observed. Pass the limit to Expect in
// a later run.
func (l *Limiter) ShownLimit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight.shown()
}

// OneByOne disables reading ahead until the server has responded normally to a request. A run calls OneByOne if the
// previous run ended because the server demanded a pause, to avoid provoking another refusal. Call OneByOne before the
// first request.
func (l *Limiter) OneByOne() { l.oneByOne = true }

// IsOneByOne reports whether reading ahead is currently disabled.
func (l *Limiter) IsOneByOne() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oneByOne && !l.flight.hasAnswered()
}

// Expect applies the load observed by earlier exports and runs. begin is the number of concurrent requests that the
// server handled without strain. The limit argument is the number above which the server refuses requests. Zero means
// unknown. Call Expect before the first request that needs a token.
func (l *Limiter) Expect(begin, limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flight.expect(begin, limit)
	l.admit()
}

// Load returns the run's observations about concurrent requests.
func (l *Limiter) Load() known.Experience {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight.load()
}

// enter waits until a request may be sent. If the returned error is nil, the caller must call leave.
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

// leave records a request's completion, frees its slot and admits waiting requests. The bytes argument is the size of
// the returned document.
func (l *Limiter) leave(v *waiter, bytes int64, how completion) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how.number, how.beside = v.number, max(v.beside, l.busy) // later requests may have reached the server first
	l.flight.complete(how)
	l.freeSlot(v, bytes)
	l.admit()
}

// freeSlot frees a waiter's slot. The memory for a document that was read ahead remains reserved.
func (l *Limiter) freeSlot(v *waiter, bytes int64) {
	l.busy--
	if v.room > 0 {
		l.hold(v.turn, bytes-v.room)
	}
}

// prioritize admits a reader's requests before all others, because nothing can be written until its document arrives.
func (l *Limiter) prioritize(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.isNext = true
	l.admit()
}

// keep counts a document that has been read and can now be returned by Take.
func (l *Limiter) keep(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.ahead++
}

// take releases the memory reserved for a document that is about to be written.
func (l *Limiter) take(of *turn, room int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of.ahead--
	l.hold(of, -min(room, of.held))
	l.admit()
}

// release frees the memory reserved for a reader whose documents are no longer needed.
func (l *Limiter) release(of *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hold(of, -of.held)
	l.admit()
}

func (l *Limiter) limit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flight.limit
}

// hold reserves more bytes of memory for a reader. If more is negative, hold frees memory.
func (l *Limiter) hold(of *turn, more int64) {
	l.held += more
	of.held += more
}

// admit admits waiting requests while slots and memory are available. The caller must hold l.mu.
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

// signOf infers the server's load from a response's rate limit and failure.
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
