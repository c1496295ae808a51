package export

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"recordbridge/shared/export/plan"
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
	// scarce is the part of a rate limit below which requests wait for its next window.
	scarce = 20
)

// session is a source together with the tokens it is read with. It is safe for concurrent use.
type session struct {
	tokens       Tokens
	tenant       org.Tenant
	connectionID string
	source       Source
	manners      plan.Manners
	pauseBy      time.Time // no wait may reach beyond it; zero for no such moment
	now          func() time.Time
	renewing     chan struct{} // of one: taken by who gets new tokens for all
	places       chan struct{} // of inFlight: taken by every request while it is under way

	mu        sync.Mutex
	current   tokens.Set
	version   int64
	notBefore time.Time // the server has asked to be left alone until then
}

var errAnotherServer = errors.New("the endpoint has another FHIR base than the one that the tokens are for")

// openSession gets usable tokens and opens the FHIR server they belong to.
func (w Worker) openSession(ctx context.Context, task Task, pauseBy time.Time) (*session, error) {
	usable, err := w.Tokens.Current(ctx, task.Tenant, task.ConnectionID)
	if err != nil {
		return nil, tokenFailure(err, w.Now())
	}
	if usable.Overdue != nil {
		logx.Add(ctx, slog.Any("refresh_overdue", usable.Overdue))
	}
	set := usable.Set
	s := &session{
		tokens: w.Tokens, tenant: task.Tenant, connectionID: task.ConnectionID,
		current: set, version: usable.Version, pauseBy: pauseBy, now: w.Now,
		renewing: make(chan struct{}, 1), places: make(chan struct{}, inFlight),
	}
	manners, err := w.Manners.Of(ctx, task.Tenant, task.ConnectionID)
	if err != nil {
		return nil, err
	}
	if manners.Base != "" && manners.Base != set.FHIRBase { // the patient's consent was for the server that issued the tokens
		return nil, &verdict{reason: TokenRefreshFailure, cause: errAnotherServer}
	}
	s.manners = manners.Filled(set.Extra)
	s.source, err = w.Portals.Open(set.FHIRBase, s.manners, func(context.Context) (secret.Text, error) {
		token, _ := s.token()
		return token.AccessToken, nil
	})
	if err != nil {
		return nil, &verdict{reason: SuppressedPleaseContact, cause: err}
	}
	return s, nil
}

func (s *session) token() (set tokens.Set, version int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, s.version
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
	wait   time.Duration
	tried  int  // of the request that has to wait
	onward bool // this run can go on itself, once it has saved
}

func (h *handOverError) Error() string { return "checkpoint and continue" }

// ask makes one request, again when that may help: with a new token after a 401, after a wait on what passes (fhir notes
// section 2.5). It was tried some times before, in earlier runs. A wait that is too long for a running function is a
// handOverError.
func (s *session) ask(ctx context.Context, tried int, request func(context.Context) (fhir.Answer, error)) ([]byte, error) {
	renewed := false
	for try := tried + 1; ; try++ {
		if err := s.heed(ctx); err != nil {
			return nil, err
		}
		_, version := s.token()
		answer, err := s.placed(ctx, request)
		if err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
		}
		failed, ok := errors.AsType[*fhir.RequestError](err)
		if !ok {
			s.slowDown(answer.Rate)
			return answer.Body, err
		}
		switch {
		case failed.Class == fhir.Unauthorized && !renewed:
			renewed = true
			err = s.renew(ctx, version, err)
		case try < triesFor(failed):
			err = s.wait(ctx, failed, try)
		}
		if err != nil {
			return nil, err
		}
	}
}

// placed makes a request once fewer than inFlight are under way.
func (s *session) placed(ctx context.Context, request func(context.Context) (fhir.Answer, error)) (fhir.Answer, error) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
		return request(ctx)
	case <-ctx.Done():
		return fhir.Answer{}, context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
}

// refusedRequest finds the failed request in an error that says no more than that: what a setback or a verdict is about
// has been judged already.
func refusedRequest(err error) (failed *fhir.RequestError, ok bool) {
	if _, judged := errors.AsType[*setback](err); judged {
		return nil, false
	}
	if _, judged := errors.AsType[*verdict](err); judged {
		return nil, false
	}
	return errors.AsType[*fhir.RequestError](err)
}

// renew gets another token after refusal, a 401 to a request with the token of version used. A token that still reads the
// Patient is good: the refusal stands then, since it was for what was asked (fhir notes section 1.6, quirk table), and
// nothing is rotated for it.
func (s *session) renew(ctx context.Context, used int64, refusal error) error {
	select {
	case s.renewing <- struct{}{}:
		defer func() { <-s.renewing }()
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
	set, version := s.token()
	if version != used {
		return nil // another request has just done it
	}
	_, unread := s.placed(ctx, func(ctx context.Context) (fhir.Answer, error) {
		return s.source.Read(ctx, "Patient", set.PatientID.Reveal(), fhir.MaxPage)
	})
	if unread == nil {
		return refusal
	}
	if failed, ok := errors.AsType[*fhir.RequestError](unread); !ok || failed.Class != fhir.Unauthorized {
		return &setback{reason: TokenRefreshFailure, cause: unread}
	}
	// A refresh that is cut off may have used up a rotating token; it has limits of its own.
	renewed, err := s.tokens.Renew(context.WithoutCancel(ctx), s.tenant, s.connectionID, version)
	if err != nil {
		return tokenFailure(err, s.now())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.version = renewed.Set, renewed.Version
	return nil
}

// triesFor says how often a request may be made that failed so.
func triesFor(failed *fhir.RequestError) int {
	if failed.Refusal == fhir.Denied || failed.Refusal == fhir.Missing || failed.Refusal == fhir.Unsupported {
		return 1
	}
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

// slowDown makes requests wait for the next window of a rate limit that is nearly used up.
func (s *session) slowDown(rate fhir.Rate) {
	if !rate.Known || rate.Remaining*scarce >= rate.Limit || rate.Reset > longestWait {
		return
	}
	s.leaveAlone(rate.Reset)
}

func (s *session) leaveAlone(wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := s.now().Add(wait); until.After(s.notBefore) {
		s.notBefore = until
	}
}

// heed waits until the server may be asked.
func (s *session) heed(ctx context.Context) error {
	s.mu.Lock()
	wait := s.notBefore.Sub(s.now())
	s.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	return sleep(ctx, wait)
}

// wait lets time pass after a try that failed. What the server asked for holds for all requests.
func (s *session) wait(ctx context.Context, failed *fhir.RequestError, try int) error {
	wait := max(failed.RetryAfter, firstWait<<(try-1))
	if wait > longestWait || (!s.pauseBy.IsZero() && s.now().Add(wait).After(s.pauseBy)) {
		return &handOverError{wait: wait, tried: try}
	}
	if failed.RetryAfter > 0 {
		s.leaveAlone(wait)
	}
	return sleep(ctx, wait)
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the cause says who ended the run
	}
}
