package source

import (
	"cmp"
	"context"
	"errors"

	"recordbridge/shared/export"
	"recordbridge/shared/export/plan"
	"recordbridge/shared/fhir"
)

// InFlight is how many requests are under way at one server at most: it serves its clinicians first.
const InFlight = 4

// Answer is what came of asking. Where Failed is nil and Stop does not stop, there is a body.
type Answer struct {
	Body   []byte
	Failed *fhir.RequestError // the server has not given it, in any try
	Stop   export.Result      // the run cannot go on
}

// Page is what came of asking for a page of resources.
type Page struct {
	fhir.Bundle

	Failed *fhir.RequestError // the server has not given it, in any try
	Stop   export.Result      // the run cannot go on
}

// IsThere reports whether there is a page.
func (p Page) IsThere() bool { return p.Failed == nil && !p.Stop.Stops() }

// ErrOther says that an answer is JSON, but not the resource that was asked for.
var ErrOther = errors.New("not the resource that was asked for")

// Ask makes one request, again when that may help: with a new token after a 401, after a wait on what passes. It was tried some
// times before, in earlier runs. Errors are ours: those of request that are no *fhir.RequestError, and the cause of ctx.
func (s *Session) Ask(ctx context.Context, tried int, request func(context.Context) (fhir.Answer, error)) (Answer, error) {
	renewed := false
	for try := tried + 1; ; try++ {
		if err := s.pace.waitForServer(ctx); err != nil {
			return Answer{}, err
		}
		_, version := s.grant.now()
		answer, err := s.placed(ctx, request)
		if err != nil && ctx.Err() != nil {
			return Answer{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
		failed, ok := errors.AsType[*fhir.RequestError](err)
		if !ok {
			s.pace.slowDown(answer.Rate)
			return Answer{Body: answer.Body}, err
		}
		var stop export.Result
		isWorthIt := true
		switch {
		case failed.Class == fhir.Unauthorized && !renewed:
			renewed = true
			isWorthIt, stop, err = s.renew(ctx, version)
		case try < triesFor(failed):
			stop, err = s.pace.backOff(ctx, failed, try)
		default:
			isWorthIt, err = false, nil
		}
		switch {
		case err != nil || stop.Stops():
			return Answer{Stop: stop}, err
		case !isWorthIt:
			return Answer{Failed: failed}, nil
		}
	}
}

// placed makes a request once fewer than InFlight are under way.
func (s *Session) placed(ctx context.Context, request func(context.Context) (fhir.Answer, error)) (fhir.Answer, error) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
		return request(ctx)
	case <-ctx.Done():
		return fhir.Answer{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
}

// Capability reads what the server says it can do. One that cannot be read as one, also in a second try, is as good as none.
func (s *Session) Capability(ctx context.Context, tried int) (fhir.Capability, Answer, error) {
	for range 2 {
		answer, err := s.Ask(ctx, tried, s.server.Metadata)
		if err != nil || answer.Failed != nil || answer.Stop.Stops() {
			return fhir.Capability{}, answer, err
		}
		tried = 0
		if capability, err := fhir.ParseCapability(answer.Body); err == nil {
			return capability, answer, nil
		}
	}
	return fhir.Capability{}, Answer{}, nil
}

// Attachment opens the content at an address, in one try.
func (s *Session) Attachment(ctx context.Context, address string, limit int64) (fhir.File, error) {
	return s.server.Attachment(ctx, address, limit)
}

// Fetch reads one page; next is empty for the first. No document is larger than limit, in bytes.
type Fetch func(ctx context.Context, next string, tried int, limit int64) (Page, error)

// Search reads the pages of a query from the server at base, to which it moves the links that the server writes.
func (s *Session) Search(q plan.Query, base fhir.Base) Fetch {
	path := PathOf(q)
	return func(ctx context.Context, next string, tried int, limit int64) (Page, error) {
		found, err := s.page(ctx, tried, func(ctx context.Context) (fhir.Answer, error) {
			if next == "" {
				return s.server.Search(ctx, path, q.Values(), limit)
			}
			return s.server.Page(ctx, next, limit)
		}, fhir.ParseBundle)
		if err != nil || !found.IsThere() {
			return found, err
		}
		if next == "" {
			base = base.Learn(found.Bundle, path)
		}
		if address, ok := base.Resolve(found.Next); ok && found.Next != "" {
			found.Next = address // else the server's reader refuses it
		}
		return found, nil
	}
}

// PathOf is where a query is asked, below the base.
func PathOf(q plan.Query) string { return cmp.Or(q.Path, q.Type) }

// Read reads one resource as a page of its own. An answer that is something else fails with ErrOther.
func (s *Session) Read(resourceType, id string) Fetch {
	return func(ctx context.Context, _ string, tried int, limit int64) (Page, error) {
		return s.page(ctx, tried, func(ctx context.Context) (fhir.Answer, error) {
			return s.server.Read(ctx, resourceType, id, limit)
		}, func(body []byte) (fhir.Bundle, error) {
			resource, err := fhir.Scan(body)
			if err != nil || resource.Type != resourceType || resource.ID != id {
				return fhir.Bundle{}, ErrOther
			}
			return resource.Alone(), nil
		})
	}
}

// page asks for what parse can read. What it cannot is asked for twice.
func (s *Session) page(
	ctx context.Context, tried int, request func(context.Context) (fhir.Answer, error), parse func([]byte) (fhir.Bundle, error),
) (Page, error) {
	for again := false; ; again = true {
		answer, err := s.Ask(ctx, tried, request)
		if err != nil || answer.Failed != nil || answer.Stop.Stops() {
			return Page{Failed: answer.Failed, Stop: answer.Stop}, err
		}
		tried = 0
		found, err := parse(answer.Body)
		switch {
		case err == nil:
			return Page{Bundle: found}, nil
		case errors.Is(err, fhir.ErrTooMany):
			return Page{Failed: &fhir.RequestError{Class: fhir.TooLarge, Status: 200, Cause: err}}, nil
		case again:
			return Page{Failed: &fhir.RequestError{Class: fhir.Content, Status: 200, Cause: err}}, nil
		}
	}
}
