package export

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"recordbridge/shared/export/plan"
	"recordbridge/shared/fhir"
)

const (
	// inFlight is how many requests are under way at one server at most (fhir notes section 2.3).
	inFlight = 4
	// aheadLimit is the largest document that is read before its turn to be written, in bytes. A larger one is asked for
	// again when it is the next, so that only one such is held at a time.
	aheadLimit = 2 << 20
)

// stream reads what one query or reference asks for, page by page, ahead of who writes it. Streams run side by side;
// they are written one after the other, so that the order of the file depends on the plan alone.
type stream struct {
	pages chan page
	large chan struct{} // allows a page beyond aheadLimit
	stop  func()        // ends it; what it was about to send is lost
}

// page is one step of a stream.
type page struct {
	fhir.Bundle

	err   error
	waits bool // for leave to read a large page
}

// fetch reads one document; next is empty for the first.
type fetch func(ctx context.Context, next string, tried int, limit int64) (fhir.Bundle, error)

// errOther says that an answer is JSON, but not the resource that was asked for.
var errOther = errors.New("not the resource that was asked for")

func newStream(stop func()) *stream {
	return &stream{pages: make(chan page), large: make(chan struct{}), stop: stop}
}

// run reads from next on until there is no more, a request fails, or the context ends.
func (s *stream) run(ctx context.Context, next string, tried int, read fetch) {
	for {
		got, err := read(ctx, next, tried, aheadLimit)
		if tooLarge(err) {
			if !s.send(ctx, page{waits: true}) || !s.granted(ctx) {
				return
			}
			runtime.GC() // the large page before this one must be gone before there is another
			got, err = read(ctx, next, tried, fhir.MaxPage)
		}
		if !s.send(ctx, page{Bundle: got, err: err}) || err != nil || got.Next == "" {
			return
		}
		next, tried = got.Next, 0
	}
}

func tooLarge(err error) bool {
	failed, ok := errors.AsType[*fhir.RequestError](err)
	return ok && failed.Class == fhir.TooLarge
}

func (s *stream) send(ctx context.Context, p page) bool {
	select {
	case s.pages <- p:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *stream) granted(ctx context.Context) bool {
	select {
	case <-s.large:
		return true
	case <-ctx.Done():
		return false
	}
}

// take returns the next page. It is called when it is the stream's turn.
func (s *stream) take(ctx context.Context) (fhir.Bundle, error) {
	for {
		select {
		case p := <-s.pages:
			if !p.waits {
				return p.Bundle, p.err
			}
		case <-ctx.Done():
			return fhir.Bundle{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
		select {
		case s.large <- struct{}{}:
		case <-ctx.Done():
			return fhir.Bundle{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
	}
}

// searching reads the pages of a query from the server at base, to which it moves the links that the server writes.
func (s *session) searching(q plan.Query, base fhir.Base) fetch {
	path := pathOf(q)
	read := s.paging(q, path)
	return func(ctx context.Context, next string, tried int, limit int64) (fhir.Bundle, error) {
		found, err := read(ctx, next, tried, limit)
		if err != nil {
			return fhir.Bundle{}, err
		}
		if next == "" {
			base = base.Learn(found, path)
		}
		if address, ok := base.Resolve(found.Next); ok && found.Next != "" {
			found.Next = address // else the source refuses it
		}
		return found, nil
	}
}

// paging reads the pages of a query at path. A page that cannot be read as one is asked for twice.
func (s *session) paging(q plan.Query, path string) fetch {
	return func(ctx context.Context, next string, tried int, limit int64) (fhir.Bundle, error) {
		for again := false; ; again = true {
			body, err := s.ask(ctx, tried, func(ctx context.Context) (fhir.Answer, error) {
				if next == "" {
					return s.source.Search(ctx, path, q.Values(), limit)
				}
				return s.source.Page(ctx, next, limit)
			})
			if err != nil {
				return fhir.Bundle{}, err
			}
			tried = 0
			found, err := fhir.ParseBundle(body)
			if err == nil {
				return found, nil
			}
			if errors.Is(err, fhir.ErrTooMany) {
				return fhir.Bundle{}, &fhir.RequestError{Class: fhir.TooLarge, Status: 200, Cause: err}
			}
			if again {
				return fhir.Bundle{}, &fhir.RequestError{Class: fhir.Content, Status: 200}
			}
		}
	}
}

// pathOf is where a query is asked, below the base.
func pathOf(q plan.Query) string { return cmp.Or(q.Path, q.Type) }

// reading reads one resource as a page of its own. One that cannot be read as one is asked for twice.
func (s *session) reading(r reference) fetch {
	return func(ctx context.Context, _ string, tried int, limit int64) (fhir.Bundle, error) {
		for again := false; ; again = true {
			body, err := s.ask(ctx, tried, func(ctx context.Context) (fhir.Answer, error) {
				return s.source.Read(ctx, r.Type, r.ID, limit)
			})
			if err != nil {
				return fhir.Bundle{}, err
			}
			tried = 0
			resource, ok := scan(body, r.Type, r.ID)
			if ok {
				return resource.Alone(), nil
			}
			if again {
				return fhir.Bundle{}, &fhir.RequestError{Class: fhir.Content, Status: 200, Cause: errOther}
			}
		}
	}
}
