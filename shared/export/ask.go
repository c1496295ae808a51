package export

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"recordbridge/shared/fault"
	"recordbridge/shared/fhir"
	"recordbridge/shared/logx"
	"recordbridge/shared/org"
	"recordbridge/shared/refresh"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
)

const (
	maxTries    = 5
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second // a longer wait is spent in the queue, not in a running function
)

// session is a source together with the tokens it is read with. It is used by one goroutine.
type session struct {
	tokens       Tokens
	tenant       org.Tenant
	connectionID string
	source       Source
	current      tokens.Set
	version      int64
	pauseBy      time.Time // no wait may reach beyond it; zero for no such moment
	tried        int       // of the request under way, in the runs before this one
	now          func() time.Time
}

// openSession gets usable tokens and opens the FHIR server they belong to.
func (w Worker) openSession(ctx context.Context, task Task, pauseBy time.Time) (*session, error) {
	set, version, err := w.Tokens.Current(ctx, task.Tenant, task.ConnectionID)
	if err != nil {
		return nil, tokenFailure(err, w.Now())
	}
	if set.Overdue != nil {
		logx.Add(ctx, slog.Any("refresh_overdue", set.Overdue))
	}
	s := &session{
		tokens: w.Tokens, tenant: task.Tenant, connectionID: task.ConnectionID,
		current: set, version: version, pauseBy: pauseBy, now: w.Now,
	}
	s.source, err = w.Portals.Open(set.FHIRBase, func(context.Context) (secret.Text, error) { return s.current.AccessToken, nil })
	if err != nil {
		return nil, &verdict{reason: SuppressedPleaseContact, cause: err}
	}
	return s, nil
}

// tokenFailure says what to do without a token. A token endpoint that is not asked for now, because others are at it, is
// no setback: the task comes again.
func tokenFailure(err error, now time.Time) error {
	if busy, ok := errors.AsType[*refresh.BusyError](err); ok {
		return &handOverError{wait: busy.RetryAt.Sub(now)}
	}
	if errors.Is(err, tokens.ErrRefused) || errors.Is(err, tokens.ErrNothingToRenew) || errors.Is(err, fault.NotFound) {
		return &verdict{reason: TokenRefreshFailure, cause: err}
	}
	return &setback{reason: TokenRefreshFailure, cause: err}
}

// handOverError ends a run early: what there is is saved, and the task goes on after wait.
type handOverError struct {
	wait time.Duration
}

func (h *handOverError) Error() string { return "checkpoint and continue" }

// ask makes one request, again when that may help: after a refresh of the token on the first 401, after a wait on
// what passes (fhir notes section 2.5). A wait that is too long for a running function is a handOverError.
func (s *session) ask(ctx context.Context, request func(context.Context) ([]byte, error)) ([]byte, error) {
	renewed := false
	first := s.tried + 1
	s.tried = 0
	for try := first; ; try++ {
		body, err := request(ctx)
		if err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
		failed, ok := errors.AsType[*fhir.RequestError](err)
		if !ok {
			return body, err
		}
		if failed.Class == fhir.Unauthorized && !renewed {
			renewed = true
			if again, failure := s.renew(ctx); failure != nil {
				return nil, failure
			} else if !again {
				return nil, err
			}
			continue
		}
		if try >= triesFor(failed) {
			return nil, err
		}
		if err := s.wait(ctx, max(failed.RetryAfter, firstWait<<(try-1))); err != nil {
			s.tried = try
			return nil, err
		}
	}
}

// renew gets another token after a 401. Where there is no refresh token, a token that still reads the Patient is good:
// again is then false, since the 401 was for what was asked (fhir notes section 1.6, quirk table).
func (s *session) renew(ctx context.Context) (again bool, failure error) {
	set, version, err := s.tokens.Renew(ctx, s.tenant, s.connectionID, s.version)
	if errors.Is(err, tokens.ErrNothingToRenew) {
		_, unread := s.source.Read(ctx, "Patient", s.current.PatientID.Reveal())
		if unread == nil {
			return false, nil
		}
		if failed, ok := errors.AsType[*fhir.RequestError](unread); !ok || failed.Class != fhir.Unauthorized {
			return false, &setback{reason: TokenRefreshFailure, cause: err}
		}
	}
	if err != nil {
		return false, tokenFailure(err, s.now())
	}
	s.current, s.version = set, version
	return true, nil
}

// triesFor says how often a request may be made that failed so.
func triesFor(failed *fhir.RequestError) int {
	switch failed.Class {
	case fhir.Limited, fhir.Network:
		return maxTries
	case fhir.ServerFault:
		if failed.Status == 500 || failed.Status == 408 {
			return 2 // some servers answer 500 to what they will never answer
		}
		return maxTries
	case fhir.Content:
		return 2
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Rejected, fhir.TooLarge, fhir.ForeignLink:
		return 1
	}
	return 1
}

func (s *session) wait(ctx context.Context, wait time.Duration) error {
	if wait > longestWait || (!s.pauseBy.IsZero() && s.now().Add(wait).After(s.pauseBy)) {
		return &handOverError{wait: wait}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
}
