package source

import (
	"context"

	"recordbridge/shared/fhir"
)

// statement is a server's CapabilityStatement, requested without a token beside other requests.
type statement struct {
	done       chan struct{}
	capability fhir.Capability
	answer     Answer
	err        error
}

// Statement begins to read what the server says it can do, unless Open has; it was tried some times before.
func (s *Session) Statement(ctx context.Context, tried int) {
	if s.statement != nil {
		return
	}
	asked, server := &statement{done: make(chan struct{})}, s.server // Open puts another in its place
	s.statement = asked
	go func() {
		defer close(asked.done)
		asked.capability, asked.answer, asked.err = s.capability(ctx, server, tried)
	}()
}

// Capability waits for what Statement reads. One that cannot be read, also in a second try, is as good as none.
func (s *Session) Capability(ctx context.Context) (fhir.Capability, Answer, error) {
	select {
	case <-s.statement.done:
		return s.statement.capability, s.statement.answer, s.statement.err
	case <-ctx.Done():
		return fhir.Capability{}, Answer{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
}

func (s *Session) capability(ctx context.Context, server Server, tried int) (fhir.Capability, Answer, error) {
	for range 2 {
		answer, err := s.ask(ctx, Wanted{Tried: tried, isOpen: true}, server.Metadata)
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
