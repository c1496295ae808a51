package source

import (
	"context"
	"errors"
	"sync"
	"time"

	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/fhir"
	"recordbridge/shared/org"
	"recordbridge/shared/refresh"
	"recordbridge/shared/tokens"
)

// grant keeps the tokens of a session.
type grant struct {
	tokens       Tokens
	tenant       org.Tenant
	connectionID string
	renewing     chan struct{} // of one: taken by who gets new tokens for all

	mu      sync.Mutex
	current tokens.Set
	version int64
}

func (g *grant) now() (set tokens.Set, version int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.current, g.version
}

// renew gets another token after a 401 to a request with the token of version used. isNew is false where the token still reads
// the Patient: the 401 stands then, since it was for what was asked, and nothing is rotated for it (docs/deviations.md,
// "Exports").
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
		return true, export.Result{}, nil // another request has just done it
	}
	_, _, unread := s.placed(ctx, nil, func(ctx context.Context) (fhir.Answer, error) {
		return s.server.Read(ctx, "Patient", set.PatientID.Reveal(), fhir.MaxPage)
	})
	if unread == nil {
		return false, export.Result{}, nil
	}
	if ctx.Err() != nil {
		return false, export.Result{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
	if failed, ok := errors.AsType[*fhir.RequestError](unread); !ok || failed.Class != fhir.Unauthorized {
		return false, export.Result{Kind: export.Retryable, Reason: export.TokenRefreshFailure, Cause: s.Spot(fault.StepPatient, "").Failed(unread)}, nil
	}
	// A refresh that is cut off may have used up a rotating token; it has limits of its own.
	renewed, err := g.tokens.Renew(context.WithoutCancel(ctx), g.tenant, g.connectionID, version)
	if err != nil {
		return false, tokenFailure(err, s.pace.now()), nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.current, g.version = renewed.Set, renewed.Version
	return true, export.Result{}, nil
}

// tokenFailure says what to do without a token. A token endpoint that is not asked for now, because others are at it, is no
// failure: the task comes again.
func tokenFailure(err error, now time.Time) export.Result {
	if busy, ok := errors.AsType[*refresh.BusyError](err); ok {
		return export.Result{Kind: export.Yield, Wait: busy.RetryAt.Sub(now), Cause: fault.Spot{Step: fault.StepToken, Class: "busy"}.Failed(err)}
	}
	isRefused := errors.Is(err, tokens.ErrRefused) || errors.Is(err, tokens.ErrNothingToRenew)
	if isRefused || errors.Is(err, fault.NotFound) {
		return export.Result{Kind: export.Fatal, Reason: export.TokenRefreshFailure, TokensRefused: isRefused, Cause: err}
	}
	return export.Result{Kind: export.Retryable, Reason: export.TokenRefreshFailure, Cause: err}
}
