package source

import (
	"context"
	"runtime"
	"sync"

	"recordbridge/shared/fhir"
)

// aheadLimit is the largest document that is read before its turn to be written, in bytes. A larger one is asked for again
// when it is the next, so that only one such is held at a time.
const aheadLimit = 2 << 20

// Streams read what queries or references ask for, page by page, ahead of who writes it, each under its key. They run side by
// side and are taken from one after the other, so that the order of the file depends on the plan alone. Streams itself is for
// one goroutine. The zero value has none.
type Streams[K comparable] struct {
	open    map[K]*stream
	running sync.WaitGroup
}

// stream is one of Streams.
type stream struct {
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

// Start begins to read from next on. It ends with ctx, with Drop, and after a page without a next one.
func (s *Streams[K]) Start(ctx context.Context, key K, next string, tried int, read Fetch) {
	ctx, stop := context.WithCancel(ctx)
	one := &stream{pages: make(chan step), large: make(chan struct{}), stop: stop}
	if s.open == nil {
		s.open = map[K]*stream{}
	}
	s.open[key] = one
	s.running.Go(func() {
		defer stop()
		one.run(ctx, next, tried, read)
	})
}

// Take returns the next page under a key. It is called when it is that stream's turn.
func (s *Streams[K]) Take(ctx context.Context, key K) (Page, error) { return s.open[key].take(ctx) }

// Drop ends the stream under a key, whose requests would be others' places.
func (s *Streams[K]) Drop(key K) {
	if one := s.open[key]; one != nil {
		one.stop()
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

// run reads from next on until there is no more, a request fails, or the context ends.
func (s *stream) run(ctx context.Context, next string, tried int, read Fetch) {
	for {
		got, err := read(ctx, next, tried, aheadLimit)
		if got.Failed != nil && got.Failed.Class == fhir.TooLarge {
			if !s.send(ctx, step{waits: true}) || !s.mayBeLarge(ctx) {
				return
			}
			runtime.GC() // the large page before this one must be gone before there is another
			got, err = read(ctx, next, tried, fhir.MaxPage)
		}
		if !s.send(ctx, step{Page: got, err: err}) || err != nil || !got.IsThere() || got.Next == "" {
			return
		}
		next, tried = got.Next, 0
	}
}

func (s *stream) send(ctx context.Context, one step) bool {
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

func (s *stream) take(ctx context.Context) (Page, error) {
	for {
		select {
		case one := <-s.pages:
			if !one.waits {
				return one.Page, one.err
			}
		case <-ctx.Done():
			return Page{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
		select {
		case s.large <- struct{}{}:
		case <-ctx.Done():
			return Page{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
	}
}
