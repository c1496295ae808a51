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

// Lambda gives an invocation no further messages until its batch is finished. One waiting message, such as for a
// receiver that does not respond, would therefore occupy a whole invocation, and at the concurrency limit such messages
// would block everyone (docs/adr/0014-who-waits-works-on.md). So an invocation with waiting messages takes further
// messages from the queue itself.

// Backlog is a worker's queue, as read by an invocation with waiting messages.
type Backlog interface {
	// Receive returns up to ten messages. If there are none, it waits up to a second for one.
	Receive(ctx context.Context) ([]events.SQSMessage, error)
	// Delete deletes a message returned by Receive.
	Delete(ctx context.Context, message events.SQSMessage) error
}

const (
	// longestWait is the time that a message may wait for an external party before it frees its slot for another.
	longestWait = 500 * time.Millisecond
	// maxMessages limits the messages of an invocation, including waiting ones. Each may have a connection open, and a
	// Lambda process can have 1,024.
	maxMessages = 500
	// longestMessage is the minimum remaining time of an invocation to begin a message: twice the time that a receiver may
	// take.
	longestMessage = time.Minute
	// stopsWithin is the range over which invocations that began together stop taking messages. If all stopped at once,
	// none would be left to take any.
	stopsWithin = 2 * time.Minute
	// retryDelay is the delay after a failed read of the queue.
	retryDelay = time.Second
)

// messagePool holds the messages that one invocation is processing.
type messagePool struct {
	slots   chan struct{} // one for each message being processed, not counting waiting ones
	places  chan struct{} // one for each message that has begun and not ended
	waiting atomic.Int64  // unfinished messages that have freed their slot
	changed chan struct{} // signals that a message has freed its slot or ended
	running sync.WaitGroup
}

func newMessagePool(concurrency int) *messagePool {
	return &messagePool{
		slots: make(chan struct{}, max(concurrency, 1)), places: make(chan struct{}, maxMessages),
		changed: make(chan struct{}, 1),
	}
}

// begin waits for a free slot and starts processing a message.
func (s *messagePool) begin(ctx context.Context, work func(context.Context)) {
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
		work(context.WithValue(ctx, messagePoolKey{}, makeRoom))
	})
}

type messagePoolKey struct{}

// Waits marks the message of ctx as waiting for an external party until stop is called. If the wait is long, the
// invocation processes other messages meanwhile, if it has a Backlog. Work that is merely slow on a busy machine frees
// no slot: more of it would be even slower.
func Waits(ctx context.Context) (stop func()) {
	makeRoom, ok := ctx.Value(messagePoolKey{}).(func())
	if !ok {
		return func() {}
	}
	timer := time.AfterFunc(longestWait, makeRoom)
	return func() { timer.Stop() }
}

func (s *messagePool) tell() {
	select {
	case s.changed <- struct{}{}:
	default: // a signal is already pending
	}
}

// awaitWaiting blocks until a message is waiting. It returns false if no message remains.
func (s *messagePool) awaitWaiting() bool {
	for len(s.places) > 0 {
		if s.waiting.Load() > 0 {
			return true
		}
		<-s.changed
	}
	return false
}

// takeMore processes further messages from the queue while messages of the batch that begins with first are waiting. It
// never cancels a receive call: messages that SQS has handed to it would be hidden for a time.
func takeMore[M any](ctx context.Context, p Process, w Worker[M], s *messagePool, first events.SQSMessage) {
	taking, cancel := untilLate(ctx, first.MessageId)
	defer cancel()
	for s.awaitWaiting() && taking.Err() == nil {
		s.slots <- struct{}{} // wait for a free slot before receiving
		<-s.slots
		records, err := w.Backlog.Receive(ctx)
		if err != nil {
			note(ctx, p, w.Name+".receive", err)
			pause(taking, retryDelay)
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

// untilLate returns a context that ends when the invocation must stop taking messages. The end is brought forward by an
// amount derived from id; message ids are random, so the ends are spread.
func untilLate(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	early := time.Duration(crc32.ChecksumIEEE([]byte(id))) * time.Microsecond % stopsWithin
	return context.WithDeadline(ctx, deadline.Add(-longestMessage-early))
}

// note logs a failure that only costs time: messages are redelivered, and the sweeper finds overdue rows.
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
