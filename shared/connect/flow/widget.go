package flow

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// Prepared is an attempt that a widget made and whose browser has not left yet.
type Prepared struct {
	AttemptID string
	Token     secret.Text // what the widget asks after the attempt with; empty when it has chosen its own
	Start     secret.Text // what a browser of our own pages leaves with, once
	ExpiresAt time.Time

	// Where it leads: of a reconnect the widget knows only the connection.
	EndpointID string
	PortalID   string
	BrandID    string
}

// Creator makes attempts whose browsers leave later. Every field is needed.
type Creator struct {
	Preparation

	Store CreateStore
}

// Create makes an attempt whose browser leaves later. Everything that can be wrong with its configuration is found out
// here, before any window opens. Errors are those of Starter.Start; fault.Conflict for an id of the widget's choice
// that is taken. Whoever brings id and token hash again, as a window does that has lost the answer, has the same
// attempt until a browser leaves with it.
func (s Creator) Create(ctx context.Context, r Request) (Prepared, error) {
	own, err := binding.Own(r.AttemptID, r.TokenHash)
	if err != nil {
		return Prepared{}, err
	}
	attempt, err := s.pin(ctx, r)
	if err != nil {
		return Prepared{}, err
	}
	token := "" // that of the widget's own making never comes here
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

// Leave sends the browser that brings a start value to the portal. The value works once, and stays good when Leave
// fails. The error is fault.Invalid for one that is unknown, used or expired. Who calls it has made sure that the
// browser comes from our own page, since whoever leaves is the one that the callback will believe.
func (s Starter) Leave(ctx context.Context, start secret.Text) (binding.Started, error) {
	ticket, err := s.Store.Ticket(ctx, binding.Hash(start.Reveal()), s.Now())
	if err != nil {
		return binding.Started{}, binding.Spent(err)
	}
	attempt, err := s.Store.Attempt(ctx, ticket.Tenant, ticket.AttemptID)
	if err != nil {
		return binding.Started{}, fmt.Errorf("read attempt: %w", err)
	}
	state, started, err := s.bind(ctx, &attempt)
	if err != nil {
		return binding.Started{}, err
	}
	if err := s.Store.OpenAttempt(ctx, ticket, attempt, state); err != nil {
		return binding.Started{}, binding.Spent(err)
	}
	return started, nil
}

// Watcher tells widgets how their attempts stand. Every field is needed.
type Watcher struct {
	Attempts Attempts
	Now      func() time.Time
}

// Progress is the status of an attempt.
type Progress struct {
	AttemptID string
	Status    Status
	Result    url.Values       // of a done one: the fields of docs/openapi.yaml
	Failure   *binding.Failure // of a failed one
}

// Progress tells how the attempt of a widget stands to whoever brings its token. An attempt that is unknown, another's
// or in redirect mode, and a wrong token, answer alike: fault.NotFound.
func (w Watcher) Progress(ctx context.Context, tenant org.Tenant, asked string, token secret.Text) (Progress, error) {
	id, ok := ids.ParseUUID(asked)
	if !ok {
		return Progress{}, binding.Missing()
	}
	a, err := w.Attempts.Attempt(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return Progress{}, binding.Missing()
	}
	if err != nil {
		return Progress{}, fmt.Errorf("read attempt: %w", err)
	}
	if !binding.Holds(a.TokenHash, token) {
		return Progress{}, binding.Missing()
	}
	p := Progress{AttemptID: a.ID, Status: a.Status}
	switch a.Status {
	case Created, Open, Expired:
		if !w.Now().Before(a.ExpiresAt) {
			p.Status = Expired
		}
	case Done:
		p.Result = result(a, a.Ending)
	case Failed:
		p.Failure = &binding.Failure{
			Error: a.Ending.Error, Description: a.Ending.Description, RequestID: a.Ending.RequestID,
			ExternalState: a.ExternalState, Cause: a.Ending.Cause, SuggestedAction: causes()[a.Ending.Cause].Action,
		}
	}
	return p, nil
}
