package source

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"recordbridge/shared/fhir"
)

// Streams reads query results and referenced resources page by page, ahead of the code that writes the pages. Each
// stream has a key. Streams run concurrently but are consumed one after another, so the order of the file depends only
// on the plan. A Streams value is not safe for concurrent use.
type Streams[K comparable] struct {
	limiter *Limiter
	open    map[K]*stream
	running sync.WaitGroup
	asking  atomic.Int64  // number of streams that are requesting a page
	ready   chan struct{} // signals that a stream has a page
}

const (
	// maxStreams is the maximum number of open streams.
	maxStreams = 32
	// maxAhead is the number of pages that a stream reads before its first page is taken. Each page of a search
	// contains the next page's URL, so without reading ahead, the export would wait for every page in turn.
	maxAhead = 8
)

// NewStreams returns a Streams for s, with no open streams.
func NewStreams[K comparable](s *Session) *Streams[K] {
	return &Streams[K]{limiter: &s.limiter, open: map[K]*stream{}, ready: make(chan struct{}, 1)}
}

// stream reads the pages that Take returns for one key.
type stream struct {
	turn  turn
	begin func() // called before the stream requests a page
	done  func() // called when a page request has completed
	keep  func() // called when Take can return another page
	pages chan step
	large chan struct{} // signals permission to read a page larger than aheadLimit
	stop  func()        // ends the stream and discards unsent pages
}

// step is a message from a stream to Take.
type step struct {
	Page

	err   error
	waits bool // whether the stream needs permission to read a large page
}

// Has reports whether a stream is open under the key.
func (s *Streams[K]) Has(key K) bool { return s.open[key] != nil }

// Full reports whether a new stream would have to wait. It returns true if the server's concurrency limit or maxStreams
// is reached, or if reading ahead is disabled (Limiter.OneByOne).
func (s *Streams[K]) Full() bool {
	return s.limiter.IsOneByOne() || len(s.open) >= maxStreams || s.asking.Load() >= int64(s.limiter.limit())
}

// Start starts a stream that reads the requested page and all subsequent pages. Up to maxAhead pages are read before
// Take is called. The stream ends after the last page, after a failure, or when ctx ends or Drop is called.
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

// done signals to Take that there may be capacity for another stream.
func (s *Streams[K]) done() {
	s.asking.Add(-1)
	select {
	case s.ready <- struct{}{}:
	default: // a signal is already pending
	}
}

// Take returns the next page of the stream under key. Call Take only for the stream whose pages are written next. While
// Take waits, it calls more whenever there may be capacity for further streams.
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

// Drop ends the stream under key and frees the memory that it holds.
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

// Close ends all streams and waits until they have stopped.
func (s *Streams[K]) Close() {
	s.DropAll()
	s.running.Wait()
}

// run reads pages, starting with the requested page, until no pages remain, a request fails or the context ends.
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
			runtime.GC() // free the previous large page before reading the next page
			wanted.Limit = fhir.MaxPage
			got, err = read(ctx, wanted)
		}
		if !s.send(ctx, step{Page: got, err: err}) || err != nil || !got.IsThere() || got.Next == "" || seen[got.Next] {
			return // a repeated next link means that the pages form a loop
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

// mayBeLarge waits for permission to read a large page. It returns false if ctx ends first.
func (s *stream) mayBeLarge(ctx context.Context) bool {
	select {
	case <-s.large:
		return true
	case <-ctx.Done():
		return false
	}
}
