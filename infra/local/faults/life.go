package faults

import (
	"errors"
	"net/http"
	"slices"
	"sync"
)

// ErrCrashed is what the calls of an instance that has crashed come to.
var ErrCrashed = errors.New("this instance has crashed")

// Life is one instance of a function, and the moment at which it crashes: after a set call to the world outside. From
// then on nothing that it does has an effect, and whoever called it must throw its answer away, as after kill -9. The
// call after which it crashes has taken effect.
type Life struct {
	mu         sync.Mutex
	calls      int
	crashAfter int // 0 for never
	turn       int
	recorded   []Call // while a crash is to come
	dead       bool
}

// NewLife begins the life of an instance that crashes after its n-th call; 0 for one that does not.
func NewLife(n int) *Life { return &Life{crashAfter: n} }

// Reborn begins the life of the next instance: it goes on counting, and does not crash by itself.
func (l *Life) Reborn() *Life {
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

// End crashes the instance now, as Lambda does with one that is out of time.
func (l *Life) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

// Disarm keeps a crash that has not happened yet from happening.
func (l *Life) Disarm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.crashAfter = 0
}

// Calls is how many calls the instance and those before it have made.
func (l *Life) Calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

// Doer sends requests: an http.Client, an SDK's HTTPClient.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Turn notes that an invocation starts or ends.
func (l *Life) Turn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn++
}

// Recorded lists the calls that the instance has made while it was to crash, in the order in which they are counted.
func (l *Life) Recorded() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.recorded)
}

// Through makes next a way out of the instance: what goes through it is counted, and ends with the instance. A call is
// recorded as describe says once it is over.
func (l *Life) Through(next Doer, describe func(*http.Request) Call) Doer {
	return way{l, next, describe}
}

// way is a way out of an instance.
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
			_ = answer.Body.Close() // nobody is left to read it
		}
		return nil, ErrCrashed
	}
	return answer, err
}

// made counts a call that has been made and reports whether the instance is dead now.
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
