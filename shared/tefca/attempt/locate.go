package attempt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

const (
	// locateTime is the network's time limit for reporting facilities. Facilities that don't respond in time are shown
	// as unanswered.
	locateTime = 75 * time.Second
	// locateLease is the duration of the lease for querying the network. The lease is longer than locateTime.
	locateLease = 90 * time.Second
	// maxFacilityID is the maximum length of a facility ID, which becomes part of a row's key.
	maxFacilityID = 256
)

type locating struct {
	worker  Worker
	attempt Attempt
	known   map[string]Facility
	failure error
}

// locate queries the network for facilities that hold records and stores each facility as soon as the network reports
// it.
func (w Worker) locate(ctx context.Context, a Attempt) error {
	now := w.Now()
	if now.Before(a.LeaseUntil) {
		return nil // Another worker holds the lease. The sweeper processes the row again when the lease expires.
	}
	a.LeaseUntil, a.DueAt = now.Add(locateLease), now.Add(locateLease)
	if err := w.Store.SaveAttempt(ctx, a); err != nil {
		if errors.Is(err, fault.Conflict) {
			return nil // Another worker took the lease first.
		}
		return fmt.Errorf("claim attempt: %w", err)
	}
	a.Rev++
	failure, err := w.ask(ctx, a)
	if err != nil {
		return err
	}
	a.LeaseUntil, a.Status, a.DueAt = time.Time{}, Located, a.IdentityEnds
	if failure != nil {
		a.Status, a.Ending, a.Assertion, a.DueAt = Failed, endingOf(failure, a.RequestID), nil, time.Time{}
		logx.Add(ctx, slog.String("ended", a.Ending.Cause))
		known, err := w.Store.Facilities(ctx, a.Tenant, a.ID)
		if err != nil {
			return fmt.Errorf("read facilities: %w", err)
		}
		if err := w.deleteLocals(ctx, a, known); err != nil {
			return err
		}
	}
	if err := w.Store.SaveAttempt(ctx, a); err != nil {
		return fmt.Errorf("store what was located: %w", err)
	}
	if failure != nil {
		tally.Count(ctx, tally.OutcomeOfCause(a.Ending.Cause))
		w.SignIns.SignIn(ctx, unsuccessful(a, requestlog.Failed, w.Now()), a.ExternalID)
	}
	return nil
}

// ask queries the network for facilities. failure is an error that ends the attempt; err is an internal failure.
func (w Worker) ask(ctx context.Context, a Attempt) (failure, err error) {
	if !a.isVerified(w.Now()) {
		return identity.Expired(), nil
	}
	network := w.Networks[a.Tenant.Mode]
	if network == nil {
		return failed(causeNetwork, nil), nil
	}
	who, err := openAssertion(ctx, w.Sealer, a)
	if err != nil {
		return nil, err
	}
	before, err := w.Store.Facilities(ctx, a.Tenant, a.ID)
	if err != nil {
		return nil, fmt.Errorf("read facilities: %w", err)
	}
	l := &locating{worker: w, attempt: a, known: map[string]Facility{}}
	for _, f := range before {
		l.known[f.ID] = f
	}
	asking, cancel := context.WithTimeout(ctx, locateTime)
	defer cancel()
	err = network.Locate(asking, who, func(f tefca.Facility) error {
		// Writes have their own deadline, so a result that arrives just before the query ends is still stored.
		l.failure = l.found(context.WithoutCancel(asking), f)
		return l.failure
	})
	logx.Add(ctx, slog.Int("facilities", len(l.known)))
	switch {
	case l.failure != nil:
		return nil, l.failure
	case err == nil, len(l.known) > 0 && !errors.Is(err, tefca.ErrIdentity):
		return nil, nil
	case errors.Is(err, tefca.ErrDemographics):
		return identity.Incomplete(err), nil
	case errors.Is(err, tefca.ErrIdentity):
		return failed(causeRefused, err), nil
	}
	return failed(causeNetwork, err), nil
}

// found stores a facility that the network reported. A later report replaces an earlier one, unless the later one is
// Unanswered.
func (l *locating) found(ctx context.Context, f tefca.Facility) error {
	was, isKnown := l.known[f.ID]
	if isKnown && f.Match == tefca.Unanswered {
		return nil
	}
	if f.ID == "" || len(f.ID) > maxFacilityID {
		logx.Note(ctx, "tefca.facility", logx.Failed(), slog.String("cause", "its id is of no use"))
		return nil
	}
	local, err := sealLocal(ctx, l.worker.Sealer, l.attempt, f)
	if err != nil {
		return err
	}
	next := Facility{
		ID: f.ID, Name: f.Name, City: f.City, State: f.State, Match: f.Match, Access: f.Access, Local: local,
		ExpiresAt: l.attempt.ExpiresAt, Rev: was.Rev,
	}
	if err := l.worker.Store.SaveFacility(ctx, l.attempt.Tenant, l.attempt.ID, next); err != nil {
		return fmt.Errorf("store a facility: %w", err)
	}
	next.Rev++
	l.known[f.ID] = next
	return nil
}
