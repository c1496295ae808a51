package lambdarun

import (
	"context"
	"hash/crc32"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"recordbridge/shared/words/logx"
)

// Lambda gives an invocation no further messages before the last one of its batch is done. A message that waits,
// such as for a receiver that does not answer, would so hold a whole invocation, and as many of them as there
// may be would hold up everyone (docs/adr/0014-who-waits-works-on.md). So an invocation that waits takes
// messages out of the queue by itself.

// Backlog is the queue of a worker, as an invocation that waits reads it.
type Backlog interface {
	// Receive takes up to ten messages; where there are none, it waits up to a second for one.
	Receive(ctx context.Context) ([]events.SQSMessage, error)
	// Delete ends a message that Receive has returned.
	Delete(ctx context.Context, message events.SQSMessage) error
}

const (
	// longestWait is how long a message may wait for somebody without making room for another one.
	longestWait = 500 * time.Millisecond
	// mostHeld bounds the messages of an invocation, waiting ones included: each may have a connection open, of which a
	// process of Lambda can have 1,024.
	mostHeld = 500
	// longestMessage is what has to be left of an invocation's time for a message to be begun: twice
	// what a receiver may take.
	longestMessage = time.Minute
	// stopsWithin is how far apart invocations stop taking that began together: those that do so at once
	// would leave nobody to take.
	stopsWithin = 2 * time.Minute
	// afterTrouble is how long a queue that could not be read is left alone.
	afterTrouble = time.Second
)

// shift is what one invocation works on.
type shift struct {
	slots   chan struct{} // of messages that are worked on
	places  chan struct{} // of all that have begun and have not ended
	waiting atomic.Int64  // those that have begun, have not ended, and have made room
	changed chan struct{} // tells that one makes room or ends
	running sync.WaitGroup
}

func newShift(concurrency int) *shift {
	return &shift{
		slots: make(chan struct{}, max(concurrency, 1)), places: make(chan struct{}, mostHeld),
		changed: make(chan struct{}, 1),
	}
}

// begin waits for room and starts with a message.
func (s *shift) begin(ctx context.Context, work func(context.Context)) {
	s.places <- struct{}{}
	s.slots <- struct{}{}
	var hasLeft atomic.Bool
	makeRoom := func() {
		if hasLeft.CompareAndSwap(false, true) {
			s.waiting.Add(1)
			<-s.slots
			s.tell()
		}
	}
	s.running.Go(func() {
		defer func() {
			if hasLeft.CompareAndSwap(false, true) {
				<-s.slots
			} else {
				s.waiting.Add(-1)
			}
			<-s.places
			s.tell()
		}()
		work(context.WithValue(ctx, shiftKey{}, makeRoom))
	})
}

type shiftKey struct{}

// Waits tells that the message of ctx waits for somebody outside until stop is called. When that takes long, its
// invocation works on others meanwhile, if it has a Backlog. What is merely slow, on a busy machine, makes no room:
// more of it would be slower still.
func Waits(ctx context.Context) (stop func()) {
	makeRoom, ok := ctx.Value(shiftKey{}).(func())
	if !ok {
		return func() {}
	}
	timer := time.AfterFunc(longestWait, makeRoom)
	return func() { timer.Stop() }
}

func (s *shift) tell() {
	select {
	case s.changed <- struct{}{}:
	default: // it is told already
	}
}

// someoneWaits returns as soon as a message waits, or with false when none is left.
func (s *shift) someoneWaits() bool {
	for len(s.places) > 0 {
		if s.waiting.Load() > 0 {
			return true
		}
		<-s.changed
	}
	return false
}

// takeMore works on what else is in the queue for as long as messages of the batch that begins with first wait. No poll
// is broken off: what SQS had handed to it would be hidden for a time.
func takeMore[M any](ctx context.Context, p Process, w Worker[M], s *shift, first events.SQSMessage) {
	taking, cancel := untilLate(ctx, first.MessageId)
	defer cancel()
	for s.someoneWaits() && taking.Err() == nil {
		s.slots <- struct{}{} // nothing is taken that would only lie about
		<-s.slots
		records, err := w.Backlog.Receive(ctx)
		if err != nil {
			note(ctx, p, w.Name+".receive", err)
			pause(taking, afterTrouble)
		}
		for _, record := range records {
			s.begin(ctx, func(ctx context.Context) {
				if !process(ctx, p, w, record) {
					return
				}
				if err := w.Backlog.Delete(ctx, record); err != nil {
					note(ctx, p, w.Name+".delete", err)
				}
			})
		}
	}
}

// untilLate ends when an invocation has to stop taking. Ids of messages are random, and so is
// what they put it forward by.
func untilLate(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	early := time.Duration(crc32.ChecksumIEEE([]byte(id))) * time.Microsecond % stopsWithin
	return context.WithDeadline(ctx, deadline.Add(-longestMessage-early))
}

// note logs a failure that costs nothing but time: messages come again, and rows are looked after by the sweeper.
func note(ctx context.Context, p Process, what string, err error) {
	ctx, line := logx.Begin(ctx)
	logx.Fail(ctx, err)
	line.Emit(ctx, p.Logger, what)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
