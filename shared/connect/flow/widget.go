package flow

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Prepared holds an attempt that a widget created and whose browser has not been redirected yet.
type Prepared struct {
	AttemptID string
	Token     secret.Text // token for polling the attempt; empty if the widget chose its own token
	Start     secret.Text // single-use start value that redirects a browser to the portal
	ExpiresAt time.Time

	// EndpointID is the attempt's endpoint, which the widget does not know on a reconnect.
	EndpointID string
	PortalID   string
	BrandID    string
}

// Creator creates attempts before the patients' browsers are redirected. Every field is required.
type Creator struct {
	Preparation

	Store CreateStore
}

// Create creates an attempt before its browser is redirected, so that configuration errors are detected before a window
// opens. Create returns the same errors as Starter.Start, and returns fault.Conflict if the widget's chosen ID is
// taken. A caller may repeat a request with the same ID and token hash, for example after losing the response. Until
// the attempt's browser is redirected, a repeated call returns the same attempt.
func (s Creator) Create(ctx context.Context, r Request) (Prepared, error) {
	own, err := binding.ChosenID(r.AttemptID, r.TokenHash)
	if err != nil {
		return Prepared{}, err
	}
	attempt, err := s.pin(ctx, r)
	if err != nil {
		return Prepared{}, err
	}
	token := "" // the server never receives a token that the widget chose
	if attempt.Status, attempt.TokenHash = Created, r.TokenHash; own == "" {
		if token, err = s.maker().Secret(); err != nil {
			return Prepared{}, err
		}
		attempt.TokenHash = binding.Hash(token)
	} else {
		attempt.ID = own
	}
	ticket, start, err := s.maker().Ticket(attempt.Tenant, attempt.ID, attempt.ExpiresAt)
	if err != nil {
		return Prepared{}, err
	}
	err = s.Store.CreateAttempt(ctx, attempt, ticket)
	if errors.Is(err, fault.Conflict) && own != "" {
		return Prepared{}, binding.Taken(err)
	}
	if err != nil {
		return Prepared{}, fmt.Errorf("store attempt: %w", err)
	}
	return Prepared{
		AttemptID: attempt.ID, Token: secret.New(token), Start: start, ExpiresAt: attempt.ExpiresAt,
		EndpointID: attempt.EndpointID, PortalID: attempt.PortalID, BrandID: attempt.BrandID,
	}, nil
}

// Leave returns the redirect to the portal for a browser that presents a start value. A start value can be used once,
// but remains valid if Leave fails. Leave returns fault.Invalid if the start value is unknown, already used or expired,
// or if its attempt was cancelled (binding.IsCancelled). The caller must have verified that the request comes from one
// of the service's own pages, because the callback trusts the browser that was redirected. Even with an error, Leave
// returns the Look of the start value's attempt, if known.
func (s Starter) Leave(ctx context.Context, start secret.Text) (binding.Started, error) {
	ticket, err := s.Store.Ticket(ctx, binding.Hash(start.Reveal()), s.Now())
	if err != nil {
		return binding.Started{}, binding.StartError(err)
	}
	attempt, err := s.Store.Attempt(ctx, ticket.Tenant, ticket.AttemptID)
	if err != nil {
		return binding.Started{}, fmt.Errorf("read attempt: %w", err)
	}
	seen := binding.Started{Look: attempt.Look}
	if err = attempt.cancelled(); err != nil {
		return seen, err
	}
	state, started, err := s.bind(ctx, &attempt)
	if err != nil {
		return seen, err
	}
	if err := s.Store.OpenAttempt(ctx, ticket, attempt, state); err != nil {
		if err = ended(ctx, s.Store, attempt, err); binding.IsCancelled(err) {
			return seen, err
		}
		return seen, binding.StartError(err)
	}
	tally.Count(ctx, tally.Begun)
	started.Look = attempt.Look
	return started, nil
}

// Watcher reports the progress of attempts to their widgets. Every field is required.
type Watcher struct {
	Attempts Attempts
	Now      func() time.Time
}

// Progress is an attempt's progress, as reported to the attempt's widget.
type Progress struct {
	AttemptID string
	Status    Status
	Result    url.Values       // result fields in docs/openapi.yaml, if the attempt succeeded
	Initials  string           // patient's initials, if the attempt succeeded and the portal provided the name
	Failure   *binding.Failure // details of the failure, if the attempt failed
}

// Progress returns the status of a widget's attempt to a caller with the attempt's token. It returns fault.NotFound for
// an unknown attempt, another tenant's attempt, an attempt in redirect mode, or a wrong token.
func (w Watcher) Progress(ctx context.Context, tenant org.Tenant, asked string, token secret.Text) (Progress, error) {
	a, err := find(ctx, w.Attempts, tenant, asked, token)
	if err != nil {
		return Progress{}, err
	}
	return progress(a, w.Now()), nil
}

// progress returns an attempt's progress at a given time.
func progress(a Attempt, now time.Time) Progress {
	p := Progress{AttemptID: a.ID, Status: a.Status}
	switch a.Status {
	case Created, Open, Expired:
		if !now.Before(a.ExpiresAt) {
			p.Status = Expired
		}
	case Done:
		p.Result, p.Initials = result(a, a.Ending), a.Ending.Initials
	case Failed:
		p.Failure = &binding.Failure{
			Error: a.Ending.Error, Description: a.Ending.Description, RequestID: a.Ending.RequestID,
			ExternalState: a.ExternalState, PlatformType: a.PlatformType, Cause: a.Ending.Cause,
			SuggestedAction: causes()[a.Ending.Cause].Action,
		}
	}
	return p
}
