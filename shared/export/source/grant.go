package source

import (
	"context"
	"errors"
	"sync"
	"time"

	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

type grant struct {
	tokens       Tokens
	tenant       org.Tenant
	connectionID string
	renewing     chan struct{} // capacity 1; held while one request renews the token on behalf of all others

	mu      sync.Mutex
	current tokens.Set
	version int64
}

func (g *grant) begin(from Tokens, tenant org.Tenant, connectionID string, usable tokens.Usable) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens, g.tenant, g.connectionID, g.renewing = from, tenant, connectionID, make(chan struct{}, 1)
	g.current, g.version = usable.Set, usable.Version
}

func (g *grant) now() (set tokens.Set, version int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.current, g.version
}

// renew replaces the token set of version used after a request with its access token received a 401. If the token can
// still read the Patient, the 401 concerns only the requested resource, so renew keeps the token and isNew is false
// (docs/reference/deviations.md, "Exports").
func (s *Session) renew(ctx context.Context, used int64) (isNew bool, stop export.Result, err error) {
	g := &s.grant
	select {
	case g.renewing <- struct{}{}:
		defer func() { <-g.renewing }()
	case <-ctx.Done():
		return false, export.Result{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
	set, version := g.now()
	if version != used {
		return true, export.Result{}, nil // another request has just renewed the token
	}
	reads, stop, err := s.readsPatient(ctx, set.PatientID.Reveal())
	if err != nil || stop.Stops() || reads {
		return false, stop, err
	}
	// An interrupted refresh could lose a rotating refresh token, so the refresh ignores ctx's cancellation and relies
	// on its own timeouts.
	renewed, err := g.tokens.Renew(context.WithoutCancel(ctx), g.tenant, g.connectionID, version)
	if err != nil {
		return false, tokenFailure(err, s.pace.now()), nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.current, g.version = renewed.Set, renewed.Version
	return true, export.Result{}, nil
}

// readsPatient reports whether the token can still read the Patient. If the server is overloaded or fails, readsPatient
// retries the read instead of using up an attempt to obtain a token.
func (s *Session) readsPatient(ctx context.Context, id string) (reads bool, stop export.Result, err error) {
	for try := 1; ; try++ {
		_, _, stop, unread := s.throttled(ctx, nil, func(ctx context.Context) (fhir.Response, error) {
			return s.server.Read(ctx, "Patient", id, fhir.MaxPage)
		})
		if stop.Stops() {
			return false, stop, nil
		}
		if unread == nil {
			return true, export.Result{}, nil
		}
		if ctx.Err() != nil {
			return false, export.Result{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
		failed, ok := errors.AsType[*fhir.RequestError](unread)
		switch {
		case ok && failed.Class == fhir.Unauthorized:
			return false, export.Result{}, nil
		case !ok || try >= triesFor(failed):
			cause := s.Spot(fault.StepPatient, "").Failed(unread)
			return false, export.Result{Kind: export.Retryable, Reason: export.TokenRefreshFailure, Cause: cause}, nil
		}
		if stop, err := s.pace.backOff(ctx, failed, try); err != nil || stop.Stops() {
			stop.Tried = 0 // Tried counts attempts at this read, which the next run repeats only after another 401
			return false, stop, err
		}
	}
}

// tokenFailure returns the result of a run that could not obtain a token. If the token endpoint is busy with other
// requests, the run yields instead of failing.
func tokenFailure(err error, now time.Time) export.Result {
	if fault.Outage(err) {
		return export.AfterOutage(err)
	}
	if busy, ok := errors.AsType[*refresh.BusyError](err); ok {
		return export.Result{
			Kind: export.Yield, Wait: busy.RetryAt.Sub(now),
			Cause: fault.Spot{Step: fault.StepToken, Class: "busy"}.Failed(err),
		}
	}
	isRefused := errors.Is(err, tokens.ErrRefused) || errors.Is(err, tokens.ErrNothingToRenew)
	if isRefused || errors.Is(err, fault.NotFound) {
		return export.Result{Kind: export.Fatal, Reason: export.TokenRefreshFailure, TokensRefused: isRefused, Cause: err}
	}
	wait := fault.Of(err).RetryAfter // the token endpoint's Retry-After
	return export.Result{Kind: export.Retryable, Reason: export.TokenRefreshFailure, Wait: wait, Cause: err}
}
