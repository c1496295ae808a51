package faults

import (
	"errors"
	"net/http"
	"slices"
	"sync"
)

// ErrCrashed is the error returned by calls of an instance that has crashed.
var ErrCrashed = errors.New("this instance has crashed")

// Life represents a function instance that crashes after a given number of external calls. The last call before the
// crash took effect. As after kill -9, the crashed instance's later actions have no effect, and its caller must discard
// its response.
type Life struct {
	mu         sync.Mutex
	calls      int
	crashAfter int // number of calls before the crash; 0 means no crash
	turn       int
	recorded   []Call // calls made while a crash is pending
	dead       bool
}

// NewLife returns the life of an instance that crashes after n calls. If n is 0, the instance never crashes.
func NewLife(n int) *Life { return &Life{crashAfter: n} }

// Next returns the life of the instance's successor, which continues the call count and never crashes by itself.
func (l *Life) Next() *Life {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Life{calls: l.calls}
}

// Dead reports whether the instance has crashed.
func (l *Life) Dead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// End crashes the instance immediately, as Lambda does when an instance exceeds its timeout.
func (l *Life) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

// Disarm cancels a pending crash.
func (l *Life) Disarm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.crashAfter = 0
}

// Calls returns the number of calls made by this instance and its predecessors.
func (l *Life) Calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

// Doer sends requests, such as an http.Client or an SDK's HTTPClient.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// MarkBoundary records the start or end of an invocation.
func (l *Life) MarkBoundary() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn++
}

// Recorded returns the calls that the instance made while a crash was pending, in the order in which they were counted.
func (l *Life) Recorded() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.recorded)
}

// Through wraps next, which sends the instance's requests. The returned Doer counts requests, and returns ErrCrashed
// once the instance has crashed. describe returns a completed call's record.
func (l *Life) Through(next Doer, describe func(*http.Request) Call) Doer {
	return way{l, next, describe}
}

type way struct {
	life     *Life
	next     Doer
	describe func(*http.Request) Call
}

// Do implements Doer.
func (w way) Do(r *http.Request) (*http.Response, error) {
	if w.life.Dead() {
		return nil, ErrCrashed
	}
	answer, err := w.next.Do(r)
	if w.life.made(w.describe(r)) {
		if err == nil {
			_ = answer.Body.Close() // nothing reads the body after this call
		}
		return nil, ErrCrashed
	}
	return answer, err
}

func (l *Life) made(c Call) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if l.crashAfter > 0 && !l.dead {
		c.Turn = l.turn
		l.recorded = append(l.recorded, c)
	}
	l.dead = l.dead || l.calls == l.crashAfter
	return l.dead
}
