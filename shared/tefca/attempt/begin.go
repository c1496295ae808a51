package attempt

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// CreateStore keeps attempts that are made.
type CreateStore interface {
	// CreateAttempt stores an attempt, created, and its ticket in one transaction; fault.Conflict
	// when there is one of its id.
	CreateAttempt(ctx context.Context, a Attempt, ticket binding.Ticket) error
}

// Creator makes attempts whose browsers leave later. Every field is needed.
type Creator struct {
	Admission

	Store  CreateStore
	Now    func() time.Time
	NewID  ids.Source
	Random io.Reader
}

// Request asks for an attempt.
type Request struct {
	Tenant        org.Tenant
	PublicID      string
	Provider      string
	ExternalID    string
	ExternalState string
	RequestID     string
}

// Prepared is an attempt whose browser has not left yet.
type Prepared struct {
	AttemptID string
	Token     secret.Text // what the page asks after the attempt with
	Start     secret.Text // what a browser of our own pages leaves with, once
	ExpiresAt time.Time
}

// Create makes an attempt, which one browser can leave with. Errors are those of Admission.Offer, and fault.Invalid.
func (c Creator) Create(ctx context.Context, r Request) (Prepared, error) {
	setting, err := c.Offer(ctx, r.Tenant.Mode, r.PublicID)
	if err != nil {
		return Prepared{}, err
	}
	if err = binding.CheckLengths(r.ExternalID, r.ExternalState, r.RequestID); err != nil {
		return Prepared{}, err
	}
	if _, ok := setting.provider(r.Provider); !ok {
		return Prepared{}, fault.BadRequest("Identity provider not found.").About("provider")
	}
	maker, now := binding.Maker{Random: c.Random, Now: c.Now}, c.Now()
	token, err := maker.Secret()
	if err != nil {
		return Prepared{}, err
	}
	a := Attempt{
		ID: c.NewID(), Tenant: r.Tenant, Status: Created, TokenHash: binding.Hash(token), Provider: r.Provider,
		ExternalID: r.ExternalID, ExternalState: r.ExternalState, RequestID: r.RequestID, CreatedAt: now,
		ExpiresAt: now.Add(binding.Lifetime),
	}
	ticket, start, err := maker.Ticket(a.Tenant, a.ID, a.ExpiresAt)
	if err != nil {
		return Prepared{}, err
	}
	note(ctx, a)
	if err = c.Store.CreateAttempt(ctx, a, ticket); err != nil {
		return Prepared{}, fmt.Errorf("store attempt: %w", err)
	}
	return Prepared{AttemptID: a.ID, Token: secret.New(token), Start: start, ExpiresAt: a.ExpiresAt}, nil
}

// StartStore keeps attempts that begin.
type StartStore interface {
	Attempts
	// Ticket reads a ticket that is not expired at now, consistently; fault.NotFound.
	Ticket(ctx context.Context, hash string, now time.Time) (binding.Ticket, error)
	// OpenAttempt uses a ticket up, replaces revision a.Rev of its attempt and creates the state, in one transaction;
	// fault.Conflict when the ticket is gone or the attempt has changed.
	OpenAttempt(ctx context.Context, ticket binding.Ticket, a Attempt, state binding.State) error
}

// Starter sends browsers to identity providers. Every field is needed.
type Starter struct {
	Admission

	Store   StartStore
	Party   Party
	Sealer  tokens.Sealer // of VerifierPurpose
	BaseURL string        // of our own API
	Now     func() time.Time
	Random  io.Reader
}

// Leave sends the browser that brings a start value to the identity provider. The value works once, and stays
// good when Leave fails. The error is fault.Invalid for one that is unknown, used or expired, or package
// identity's. Who calls it has made sure that the browser comes from our own page, since whoever leaves is the
// one that the callback will believe.
func (s Starter) Leave(ctx context.Context, start secret.Text) (binding.Started, error) {
	ticket, err := s.Store.Ticket(ctx, binding.Hash(start.Reveal()), s.Now())
	if err != nil {
		return binding.Started{}, binding.Spent(err)
	}
	a, err := s.Store.Attempt(ctx, ticket.Tenant, ticket.AttemptID)
	if err != nil {
		return binding.Started{}, binding.Spent(err)
	}
	note(ctx, a)
	if a.Status != Created { // whoever left before is the one that the attempt is about
		return binding.Started{}, binding.Spent(fault.NotFound)
	}
	provider, ok := s.Settings[a.Tenant.Mode].provider(a.Provider)
	if !ok {
		return binding.Started{}, binding.Spent(fault.NotFound)
	}
	maker := binding.Maker{Random: s.Random, Now: s.Now}
	value, state, started, err := maker.Bind(a.Tenant, a.ID, a.ExpiresAt)
	if err != nil {
		return binding.Started{}, err
	}
	nonce, err := maker.Secret()
	if err != nil {
		return binding.Started{}, err
	}
	verifier, err := maker.Secret()
	if err != nil {
		return binding.Started{}, err
	}
	if a.Verifier, err = s.Sealer.Seal(ctx, a.Tenant, verifierBinding(a), []byte(verifier)); err != nil {
		return binding.Started{}, fmt.Errorf("seal verifier: %w", err)
	}
	challenge := sha256.Sum256([]byte(verifier))
	started.URL, a.Authority, err = s.Party.Begin(ctx, provider, identity.Request{
		RedirectURI: provider.Callback(s.BaseURL), State: value, Nonce: nonce,
		Challenge: base64.RawURLEncoding.EncodeToString(challenge[:]),
	})
	if err != nil {
		return binding.Started{}, fmt.Errorf("begin at the identity provider: %w", err)
	}
	a.Status, a.NonceHash = Open, binding.Hash(nonce)
	if err := s.Store.OpenAttempt(ctx, ticket, a, state); err != nil {
		return binding.Started{}, binding.Spent(err)
	}
	return started, nil
}

// note puts on the log line whose attempt it is.
func note(ctx context.Context, a Attempt) {
	logx.Add(ctx, slog.String("org_id", a.Tenant.OrgID), slog.String("mode", string(a.Tenant.Mode)),
		slog.String("attempt_id", a.ID))
}
