package source

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"recordbridge/shared/fhir"
)

// Streams read what queries or references ask for, page by page, ahead of who writes it, each under its key. They run
// side by side and are taken from one after the other, so that the order of the file depends on the plan alone. Streams
// itself is for one goroutine.
type Streams[K comparable] struct {
	limiter *Limiter
	open    map[K]*stream
	running sync.WaitGroup
	asking  atomic.Int64  // streams that have no page to be taken yet
	ready   chan struct{} // one of them has
}

const (
	// maxStreams limits the streams that are open at once.
	maxStreams = 32
	// maxAhead is how many pages of a stream are read before the first of them is taken, so that the pages of a long
	// search, of which each names the next, need not all be waited for in its turn.
	maxAhead = 8
)

// NewStreams returns Streams of a session, none of which is open.
func NewStreams[K comparable](s *Session) *Streams[K] {
	return &Streams[K]{limiter: &s.limiter, open: map[K]*stream{}, ready: make(chan struct{}, 1)}
}

// stream is one of Streams.
type stream struct {
	turn  turn
	begin func() // it has to ask for a page
	done  func() // it has one, or none
	keep  func() // a page is there to be taken
	pages chan step
	large chan struct{} // allows a page beyond aheadLimit
	stop  func()        // ends it; what it was about to send is lost
}

// step is what a stream sends.
type step struct {
	Page

	err   error
	waits bool // for leave to read a large page
}

// Has reports whether there is a stream under a key.
func (s *Streams[K]) Has(key K) bool { return s.open[key] != nil }

// Full reports whether a further stream would only wait: as many ask already as the server bears, or as many have
// something to be taken as may, or nothing is read ahead (Session.OneByOne).
func (s *Streams[K]) Full() bool {
	return s.limiter.IsOneByOne() || len(s.open) >= maxStreams || s.asking.Load() >= int64(s.limiter.limit())
}

// Start begins to read what is wanted and all pages after it, some of which are there before they are taken. It ends
// with ctx, with Drop, and after a page without a next one.
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

// done tells Take that there may be a place for a further stream.
func (s *Streams[K]) done() {
	s.asking.Add(-1)
	select {
	case s.ready <- struct{}{}:
	default: // it is told already
	}
}

// Take returns the next page under a key. It is called when it is that stream's turn. While it waits it calls more
// whenever there may be a place for further streams.
func (s *Streams[K]) Take(ctx context.Context, key K, more func()) (Page, error) {
	one := s.open[key]
	s.limiter.hurry(&one.turn)
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

// Drop ends the stream under a key, whose requests would be others' places.
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

// Close ends all streams, and returns once none is at work.
func (s *Streams[K]) Close() {
	s.DropAll()
	s.running.Wait()
}

// run reads from what is wanted on until there is no more, a request fails, or the context ends.
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
			runtime.GC() // the large page before this one must be gone before there is another
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

// mayBeLarge waits for leave to read a large page.
func (s *stream) mayBeLarge(ctx context.Context) bool {
	select {
	case <-s.large:
		return true
	case <-ctx.Done():
		return false
	}
}
