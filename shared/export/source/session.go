package source

import (
	"cmp"
	"context"
	"errors"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
)

// Response is the result of a request. A Response has a body unless Failed is set or Stop stops the run.
type Response struct {
	Body   []byte
	Failed *fhir.RequestError // failure of the last attempt
	Stop   export.Result      // set if the run cannot continue
	Took   time.Duration      // duration of the successful request
}

// Page is the result of a request for a page of resources or for the content of an attachment.
type Page struct {
	fhir.Bundle

	Parts   []fhir.BatchPage // set only for a batch response
	Content *Content         // set only for an attachment; nil if the content is too large to read ahead
	Bytes   int              // page size in bytes
	Took    time.Duration    // duration of the successful request

	Failed *fhir.RequestError // failure of the last attempt
	Stop   export.Result      // set if the run cannot continue

	room int64 // memory used by the page, in bytes
}

// Content holds the content at an attachment's URL.
type Content struct {
	Type string // media type stated by the server, if any
	Data []byte
}

// IsThere reports whether the request returned a page.
func (p Page) IsThere() bool { return p.Failed == nil && !p.Stop.Stops() }

// ErrOther means that a JSON response does not contain the requested resource.
var ErrOther = errors.New("not the requested resource")

// Wanted describes a document to request.
type Wanted struct {
	Next  string // page URL; empty for the first page
	Tried int    // number of attempts in earlier runs
	Limit int64  // maximum document size in bytes

	isOpen bool  // sent without a token, so a 401 does not mean that the token expired
	turn   *turn // nil for a document that is not read ahead
}

// Ask sends a request and retries it if a retry may help. It retries with a new token after a 401 response, and after a
// pause if the failure is temporary. The tried argument is the number of attempts in earlier runs. Ask returns only
// internal errors: errors from request other than *fhir.RequestError, and the cause of ctx.
func (s *Session) Ask(ctx context.Context, tried int,
	request func(context.Context) (fhir.Response, error),
) (Response, error) {
	return s.ask(ctx, Wanted{Tried: tried}, request)
}

func (s *Session) ask(ctx context.Context, wanted Wanted,
	request func(context.Context) (fhir.Response, error),
) (Response, error) {
	renewed := false
	for try := wanted.Tried + 1; ; try++ {
		if refused, isGivenUp := s.pace.givenUp(); isGivenUp {
			return Response{Failed: refused}, nil
		}
		_, version := s.grant.now()
		answer, took, stop, err := s.throttled(ctx, wanted.turn, request)
		if stop.Stops() {
			if s.GivenUp() {
				continue
			}
			stop.Tried = try - 1
			return Response{Stop: stop}, nil
		}
		if err != nil && ctx.Err() != nil {
			return Response{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
		failed, ok := errors.AsType[*fhir.RequestError](err)
		if !ok {
			s.pace.slowDown(answer.Rate)
			return Response{Body: answer.Body, Took: took}, err
		}
		isWorthIt := true
		switch {
		case failed.Class == fhir.Unauthorized && !renewed && !wanted.isOpen:
			renewed = true
			isWorthIt, stop, err = s.renew(ctx, version)
		case try < triesFor(failed):
			stop, err = s.pace.backOff(ctx, failed, try)
		default:
			isWorthIt, err = false, nil
		}
		switch {
		case err == nil && stop.Kind != export.Fatal && s.GivenUp():
			// continue, because the next iteration returns the server's refusal
		case err != nil || stop.Stops():
			return Response{Stop: stop}, err
		case !isWorthIt:
			return Response{Failed: failed}, nil
		}
	}
}

// throttled sends a request as soon as any demanded pause has ended and the limiter admits the request. If the Result
// stops the run, throttled did not send the request, because the required wait was too long.
func (s *Session) throttled(
	ctx context.Context, of *turn, request func(context.Context) (fhir.Response, error),
) (answer fhir.Response, took time.Duration, stop export.Result, err error) {
	place, stop, err := s.enter(ctx, of)
	if err != nil || stop.Stops() {
		return fhir.Response{}, 0, stop, err
	}
	began := s.pace.now()
	answer, err = request(ctx)
	took = s.pace.now().Sub(began)
	how := completion{sign: unrelated, took: took}
	failed, isFailed := errors.AsType[*fhir.RequestError](err)
	if isFailed {
		s.pace.recordDemand(failed)
	}
	if isFailed || err == nil {
		how.sign = signOf(answer.Rate, failed)
	}
	if ctx.Err() != nil {
		how.sign = unrelated
	}
	s.limiter.leave(place, int64(cap(answer.Body)), how)
	return answer, took, export.Result{}, err
}

// enter waits until a request may be sent. After obtaining a slot, enter checks for a pause again, because the refusal
// of another request may have demanded one in the meantime.
func (s *Session) enter(ctx context.Context, of *turn) (*waiter, export.Result, error) {
	for {
		if stop, err := s.pace.waitForServer(ctx); err != nil || stop.Stops() {
			return nil, stop, err
		}
		place, err := s.limiter.enter(ctx, of)
		if err != nil {
			return nil, export.Result{}, err
		}
		if wait, _ := s.pace.left(); wait == 0 {
			return place, export.Result{}, nil
		}
		s.limiter.leave(place, 0, completion{sign: unrelated})
	}
}

// Fetch requests a document and returns it as a Page.
type Fetch func(ctx context.Context, wanted Wanted) (Page, error)

// Search returns a Fetch that reads one page of a query's results and rewrites the page's next link to point to base.
func (s *Session) Search(q plan.Query, base fhir.Base) Fetch {
	path := PathOf(q)
	return func(ctx context.Context, wanted Wanted) (Page, error) {
		found, err := s.page(ctx, wanted, func(ctx context.Context) (fhir.Response, error) {
			if wanted.Next == "" {
				return s.server.Search(ctx, path, q.Values(), wanted.Limit)
			}
			return s.server.Page(ctx, wanted.Next, wanted.Limit)
		}, fhir.ParseBundle)
		if err != nil || !found.IsThere() {
			return found, err
		}
		if wanted.Next == "" {
			base = base.Learn(found.Bundle, path)
		}
		if address, ok := base.Resolve(found.Next); ok && found.Next != "" {
			found.Next = address // the server's client rejects links outside its base
		}
		return found, nil
	}
}

// PathOf returns the path of a query relative to the base URL.
func PathOf(q plan.Query) string { return cmp.Or(q.Path, q.Type) }

// Read returns a Fetch that reads a single resource as a page. If the response does not contain the requested resource,
// the page's failure has the cause ErrOther.
func (s *Session) Read(resourceType, id string) Fetch {
	return func(ctx context.Context, wanted Wanted) (Page, error) {
		return s.page(ctx, wanted, func(ctx context.Context) (fhir.Response, error) {
			return s.server.Read(ctx, resourceType, id, wanted.Limit)
		}, func(body []byte) (fhir.Bundle, error) {
			resource, err := fhir.Scan(body)
			if err != nil || resource.Type != resourceType || resource.ID != id {
				return fhir.Bundle{}, ErrOther
			}
			return resource.Alone(), nil
		})
	}
}

// page requests a document and parses it. If the document cannot be parsed, page requests it once more.
func (s *Session) page(
	ctx context.Context, wanted Wanted, request func(context.Context) (fhir.Response, error),
	parse func([]byte) (fhir.Bundle, error),
) (Page, error) {
	for again := false; ; again = true {
		answer, err := s.ask(ctx, wanted, request)
		if err != nil || answer.Failed != nil || answer.Stop.Stops() {
			return Page{Failed: answer.Failed, Stop: answer.Stop}, err
		}
		wanted.Tried = 0
		found, err := parse(answer.Body)
		switch {
		case err == nil:
			return Page{Bundle: found, Bytes: len(answer.Body), Took: answer.Took, room: int64(cap(answer.Body))}, nil
		case errors.Is(err, fhir.ErrTooMany):
			return Page{Failed: &fhir.RequestError{Class: fhir.TooLarge, Status: 200, Cause: err}}, nil
		case again:
			return Page{Failed: &fhir.RequestError{Class: fhir.Content, Status: 200, Cause: err}}, nil
		}
	}
}
