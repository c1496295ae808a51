package source

import (
	"context"

	"recordbridge/shared/fhir"
)

// statement is a server's CapabilityStatement, requested without a token and concurrently with other requests.
type statement struct {
	done       chan struct{}
	capability fhir.Capability
	answer     Response
	err        error
}

// Statement starts reading the server's CapabilityStatement, unless Open has already done so. The tried argument is the
// number of earlier attempts.
func (s *Session) Statement(ctx context.Context, tried int) {
	if s.statement != nil {
		return
	}
	asked, server := &statement{done: make(chan struct{})}, s.server // copied, because Open replaces s.server
	s.statement = asked
	go func() {
		defer close(asked.done)
		asked.capability, asked.answer, asked.err = s.capability(ctx, server, tried)
	}()
}

// Capability waits for the CapabilityStatement requested by Statement and returns it. If the response cannot be parsed
// in two attempts, Capability returns the zero value.
func (s *Session) Capability(ctx context.Context) (fhir.Capability, Response, error) {
	select {
	case <-s.statement.done:
		return s.statement.capability, s.statement.answer, s.statement.err
	case <-ctx.Done():
		return fhir.Capability{}, Response{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
}

func (s *Session) capability(ctx context.Context, server Server, tried int) (fhir.Capability, Response, error) {
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
	return fhir.Capability{}, Response{}, nil
}
