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

// Lambda delivers no further messages to an invocation until its batch is finished. A message waiting for a slow
// receiver would block its invocation and, at the concurrency limit, the queue. While its messages wait, an invocation
// therefore receives further messages directly from the queue (docs/adr/0014-who-waits-works-on.md).

// Backlog is a worker's queue, from which an invocation receives further messages while its own are waiting.
type Backlog interface {
	// Receive returns up to ten messages. If the queue is empty, it waits up to one second.
	Receive(ctx context.Context) ([]events.SQSMessage, error)
	// Delete deletes a message that Receive returned.
	Delete(ctx context.Context, message events.SQSMessage) error
}

const (
	// longestWait is the maximum time that a message may wait for an external party before it loses its slot to another
	// message.
	longestWait = 500 * time.Millisecond
	// maxMessages is the maximum number of messages per invocation, including waiting messages. Each message may keep a
	// connection open, and a Lambda process can open at most 1,024 files.
	maxMessages = 500
	// longestMessage is the minimum time that an invocation must have left to begin a message, which is twice a
	// receiver's timeout.
	longestMessage = time.Minute
	// stopsWithin is the period over which concurrent invocations stop receiving messages. If all invocations stopped
	// at once, the queue would have no consumers.
	stopsWithin = 2 * time.Minute
	// retryDelay is the delay after a failure to read the queue.
	retryDelay = time.Second
)

// messagePool tracks the messages that one invocation is processing.
type messagePool struct {
	slots   chan struct{} // one entry per message in progress, except for waiting messages
	places  chan struct{} // one entry per unfinished message
	waiting atomic.Int64  // messages that have released their slots but are not finished
	changed chan struct{} // signals that a message has finished or released its slot
	running sync.WaitGroup
}

func newMessagePool(concurrency int) *messagePool {
	return &messagePool{
		slots: make(chan struct{}, max(concurrency, 1)), places: make(chan struct{}, maxMessages),
		changed: make(chan struct{}, 1),
	}
}

// begin waits for a free slot and then starts processing a message.
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

// Waits marks ctx's message as waiting for an external party until stop is called. During a long wait, an invocation
// with a Backlog processes other messages. Don't use Waits for work that is slow only because the machine is busy,
// because additional work would slow the machine down further.
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
	default: // The channel already holds a signal.
	}
}

// awaitWaiting blocks until a message is waiting. It returns false once no messages are in progress.
func (s *messagePool) awaitWaiting() bool {
	for len(s.places) > 0 {
		if s.waiting.Load() > 0 {
			return true
		}
		<-s.changed
	}
	return false
}

// takeMore receives and processes further messages while messages from first's batch are waiting. It never cancels a
// receive call, because messages in the lost response would stay hidden until their visibility timeout ends.
func takeMore[M any](ctx context.Context, p Process, w Worker[M], s *messagePool, first events.SQSMessage) {
	taking, cancel := untilLate(ctx, first.MessageId)
	defer cancel()
	for s.awaitWaiting() && taking.Err() == nil {
		s.slots <- struct{}{} // Wait for a free slot before receiving a message.
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

// untilLate returns a context that is cancelled when the invocation must stop receiving messages. A duration derived
// from id, a random message ID, makes invocations stop at different times.
func untilLate(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	early := time.Duration(crc32.ChecksumIEEE([]byte(id))) * time.Microsecond % stopsWithin
	return context.WithDeadline(ctx, deadline.Add(-longestMessage-early))
}

// note logs a failure that only causes a delay: SQS redelivers messages, and the sweeper processes overdue rows.
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
