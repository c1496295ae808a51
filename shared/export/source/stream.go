package source

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"recordbridge/shared/fhir"
)

// Streams reads the results of queries or references, page by page, ahead of the code that writes them, each stream
// under its key. The streams run concurrently and are taken from one after the other, so that the order of the file
// depends on the plan alone. Streams is not safe for concurrent use.
type Streams[K comparable] struct {
	limiter *Limiter
	open    map[K]*stream
	running sync.WaitGroup
	asking  atomic.Int64  // streams without a page to take yet
	ready   chan struct{} // signals that a stream has a page
}

const (
	// maxStreams limits the streams that are open at once.
	maxStreams = 32
	// maxAhead is the number of pages of a stream that are read before the first of them is taken. Without it, each page
	// of a long search, whose URL is in the page before it, would have to be waited for in turn.
	maxAhead = 8
)

// NewStreams returns a session's Streams, with none open.
func NewStreams[K comparable](s *Session) *Streams[K] {
	return &Streams[K]{limiter: &s.limiter, open: map[K]*stream{}, ready: make(chan struct{}, 1)}
}

// stream is one of the streams in Streams.
type stream struct {
	turn  turn
	begin func() // called before it requests a page
	done  func() // called when it has a page or has ended
	keep  func() // called when a page is ready to be taken
	pages chan step
	large chan struct{} // allows a page larger than aheadLimit
	stop  func()        // ends it and discards unsent pages
}

// step is one message of a stream.
type step struct {
	Page

	err   error
	waits bool // it waits for permission to read a large page
}

// Has reports whether a stream is open under the key.
func (s *Streams[K]) Has(key K) bool { return s.open[key] != nil }

// Full reports whether a further stream would only wait: as many requests are under way as the server handles, as many
// streams are open as allowed, or nothing is read ahead (Session.OneByOne).
func (s *Streams[K]) Full() bool {
	return s.limiter.IsOneByOne() || len(s.open) >= maxStreams || s.asking.Load() >= int64(s.limiter.limit())
}

// Start begins to read the wanted page and all pages after it, some of them before they are taken. It ends with ctx,
// with Drop, and after a page without a next one.
func (s *Streams[K]) Start(ctx context.Context, key K, wanted Wanted, read Fetch) {
	ctx, stop := context.WithCancel(ctx)
	one := &stream{
		pages: make(chan step, maxAhead-1), large: make(chan struct{}), stop: stop, begin: func() { s.asking.Add(1) },
		done: s.done,
	}
	one.keep = func() { s.limiter.keep(&one.turn) }
	wanted.turn = &one.turn
	s.open[key] = one
	one.begin()
	s.running.Go(func() {
		defer stop()
		one.run(ctx, wanted, read)
		if ctx.Err() != nil {
			s.limiter.release(&one.turn)
		}
	})
}

// done signals to Take that there may be room for a further stream.
func (s *Streams[K]) done() {
	s.asking.Add(-1)
	select {
	case s.ready <- struct{}{}:
	default: // already signalled
	}
}

// Take returns the next page under a key. Call it when it is that stream's turn. While it waits, it calls more whenever
// there may be room for further streams.
func (s *Streams[K]) Take(ctx context.Context, key K, more func()) (Page, error) {
	one := s.open[key]
	s.limiter.prioritize(&one.turn)
	for {
		select {
		case got := <-one.pages:
			s.limiter.take(&one.turn, got.room)
			if !got.waits {
				return got.Page, got.err
			}
		case <-s.ready:
			more()
			continue
		case <-ctx.Done():
			return Page{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
		select {
		case one.large <- struct{}{}:
		case <-ctx.Done():
			return Page{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
	}
}

// Drop ends the stream under a key, to free its slots for others.
func (s *Streams[K]) Drop(key K) {
	if one := s.open[key]; one != nil {
		one.stop()
		s.limiter.release(&one.turn)
		delete(s.open, key)
	}
}

// DropAll ends all streams.
func (s *Streams[K]) DropAll() {
	for key := range s.open {
		s.Drop(key)
	}
}

// Close ends all streams, and returns once none is running.
func (s *Streams[K]) Close() {
	s.DropAll()
	s.running.Wait()
}

// run reads from the wanted page on until there is no more, a request fails, or the context ends.
func (s *stream) run(ctx context.Context, wanted Wanted, read Fetch) {
	seen := map[string]bool{wanted.Next: true}
	for {
		wanted.Limit = aheadLimit
		got, err := read(ctx, wanted)
		s.done()
		if got.Failed != nil && got.Failed.Class == fhir.TooLarge {
			if !s.send(ctx, step{waits: true}) || !s.mayBeLarge(ctx) {
				return
			}
			runtime.GC() // free the previous large page before reading another
			wanted.Limit = fhir.MaxPage
			got, err = read(ctx, wanted)
		}
		if !s.send(ctx, step{Page: got, err: err}) || err != nil || !got.IsThere() || got.Next == "" || seen[got.Next] {
			return // pages in a loop are not read ahead
		}
		seen[got.Next] = true
		wanted.Next, wanted.Tried = got.Next, 0
		s.begin()
	}
}

func (s *stream) send(ctx context.Context, one step) bool {
	s.keep()
	select {
	case s.pages <- one:
		return true
	case <-ctx.Done():
		return false
	}
}

// mayBeLarge waits for permission to read a large page.
func (s *stream) mayBeLarge(ctx context.Context) bool {
	select {
	case <-s.large:
		return true
	case <-ctx.Done():
		return false
	}
}
