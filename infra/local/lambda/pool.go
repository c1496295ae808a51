package lambda

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// pool holds a function's instances. An instance is busy from its start, or from the receipt of an invocation, until it
// requests the next invocation. Each busy instance holds one of the pool's slots.
type pool struct {
	function Function
	slots    chan struct{}
	log      *tail

	live        map[*instance]struct{}
	idle        []*instance // used as a stack, so the most recently used instance is reused first
	invocations int
	failures    int
}

func newPool(f Function) *pool {
	return &pool{
		function: f,
		slots:    make(chan struct{}, max(f.Concurrency, 1)),
		log:      &tail{},
		live:     make(map[*instance]struct{}),
	}
}

// acquire returns an idle or new instance that is ready for the invocation with the given trace.
func (s *Subprocesses) acquire(ctx context.Context, p *pool, trace string) (*instance, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a free instance of %s: %w", p.function.ID, ctx.Err())
	}
	in, isNew, err := s.take(ctx, p, trace)
	if err != nil {
		<-p.slots
		return nil, err
	}
	if isNew {
		return in, in.waitReady()
	}
	return in, nil
}

// take returns an idle instance or starts a new one. The returned instance holds the slot that the caller acquired.
func (s *Subprocesses) take(ctx context.Context, p *pool, trace string) (in *instance, isNew bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(p.idle) - 1; last >= 0 {
		in = p.idle[last]
		p.idle = p.idle[:last]
		return in, false, nil
	}
	if s.closed {
		return nil, false, errClosed
	}
	s.observer.Starting(trace)
	in, err = s.start(ctx, p, trace)
	return in, true, err
}

// assign passes inv to an instance that the caller has acquired, and starts the timer for its timeout.
func (s *Subprocesses) assign(in *instance, inv *invocation) {
	timeout := in.pool.function.Timeout
	s.mu.Lock()
	defer s.mu.Unlock()
	in.clock.Stop()
	inv.deadline = time.Now().Add(timeout)
	in.current, in.latest = inv, inv.trace
	in.clock = time.AfterFunc(timeout, func() { s.expire(in, inv) })
	in.work <- inv // this send never blocks, because an instance has only one invocation at a time
}

// expire kills an instance that has exceeded its time limit for inv without completing it. If inv is nil, the time
// limit applies to the instance's startup.
func (s *Subprocesses) expire(in *instance, inv *invocation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.alive() && in.current == inv {
		in.timedOut = true
		in.kill()
	}
}

// next handles an instance's request for the next invocation. This request marks the end of either the instance's
// startup or its current invocation.
func (s *Subprocesses) next(in *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !in.alive() {
		return
	}
	if !in.started {
		in.started = true
		in.clock.Stop()
		close(in.ready) // lets the caller that started the instance assign its invocation
		return
	}
	if in.current == nil || !in.current.delivered.Load() {
		return // the process requested work twice
	}
	close(in.current.over)
	in.current = nil
	in.clock.Stop()
	in.pool.idle = append(in.pool.idle, in)
	if life := in.pool.function.IdleLife; life > 0 {
		in.clock = time.AfterFunc(life, func() { s.retire(in) })
	}
	<-in.pool.slots
}

// retire ends an instance if it is still idle.
func (s *Subprocesses) retire(in *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(in.pool.idle, in); at >= 0 {
		in.pool.idle = slices.Delete(in.pool.idle, at, at+1) // from here on, no invocation can acquire the instance
		in.retired = true
		in.kill()
	}
}

// answer stores the first response to inv and ignores later responses.
func (s *Subprocesses) answer(in *instance, inv *invocation, out outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.alive() && in.current == inv && inv.answer == nil {
		inv.answer = &out
	}
}

// remove removes an instance after its process has ended.
func (s *Subprocesses) remove(in *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in.clock.Stop()
	delete(s.instances, in.id)
	delete(in.pool.live, in)
	if at := slices.Index(in.pool.idle, in); at >= 0 {
		in.pool.idle = slices.Delete(in.pool.idle, at, at+1)
		return
	}
	if !in.retired {
		<-in.pool.slots // the instance was busy, so its slot is released
	}
}
