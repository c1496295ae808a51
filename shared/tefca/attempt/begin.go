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
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// CreateStore stores newly created attempts.
type CreateStore interface {
	// CreateAttempt stores a new attempt and its ticket in one transaction. It returns fault.Conflict if the ID already
	// exists.
	CreateAttempt(ctx context.Context, a Attempt, ticket binding.Ticket) error
}

// Creator creates attempts that a browser starts later. All fields are required.
type Creator struct {
	Admission

	Store  CreateStore
	Now    func() time.Time
	NewID  ids.Source
	Random io.Reader
}

// Request is a request to create an attempt.
type Request struct {
	Tenant        org.Tenant
	PublicID      string
	Provider      string
	ExternalID    string
	ExternalState string
	RequestID     string
	Look          binding.Look
}

// Prepared is an attempt that a browser has not yet started.
type Prepared struct {
	AttemptID string
	Token     secret.Text // the page's polling token
	Start     secret.Text // single-use value that a browser posts to start the attempt
	ExpiresAt time.Time
}

// Create creates an attempt that only one browser can start. It returns fault.Invalid or an error from Admission.Offer.
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
		ExternalID: r.ExternalID, ExternalState: r.ExternalState, RequestID: r.RequestID, Look: r.Look, CreatedAt: now,
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

// StartStore stores attempts when a browser starts them.
type StartStore interface {
	Attempts
	// Ticket returns the ticket if it has not expired at now, using a consistent read. It returns fault.NotFound if the
	// ticket is missing or expired.
	Ticket(ctx context.Context, hash string, now time.Time) (binding.Ticket, error)
	// OpenAttempt deletes the ticket, replaces revision a.Rev of its attempt, and creates the state, in one
	// transaction. It returns fault.Conflict if the ticket no longer exists or the attempt has changed.
	OpenAttempt(ctx context.Context, ticket binding.Ticket, a Attempt, state binding.State) error
}

// Starter starts attempts by redirecting browsers to identity providers. All fields are required.
type Starter struct {
	Admission

	Store   StartStore
	Party   Party
	Sealer  tokens.Sealer // uses VerifierPurpose
	BaseURL string        // URL of the API
	Now     func() time.Time
	Random  io.Reader
}

// Leave starts a start value's attempt and returns the redirect to its identity provider. A start value can be used
// only once but remains valid if Leave fails. Leave returns fault.Invalid if the value is unknown, already used or
// expired, or if its attempt was cancelled (binding.IsCancelled), and errors from package identity. The caller must
// verify that the request comes from the service's own page, because the callback trusts whichever browser started the
// attempt. The attempt's Look, if known, is returned even if there is an error.
func (s Starter) Leave(ctx context.Context, start secret.Text) (binding.Started, error) {
	ticket, err := s.Store.Ticket(ctx, binding.Hash(start.Reveal()), s.Now())
	if err != nil {
		return binding.Started{}, binding.StartError(err)
	}
	a, err := s.Store.Attempt(ctx, ticket.Tenant, ticket.AttemptID)
	if err != nil {
		return binding.Started{}, binding.StartError(err)
	}
	note(ctx, a)
	seen := binding.Started{Look: a.Look}
	if err = a.cancelled(); err != nil {
		return seen, err
	}
	if a.Status != Created { // Only the browser that started the attempt may continue it.
		return seen, binding.StartError(fault.NotFound)
	}
	provider, ok := s.Settings[a.Tenant.Mode].provider(a.Provider)
	if !ok {
		return seen, binding.StartError(fault.NotFound)
	}
	maker := binding.Maker{Random: s.Random, Now: s.Now}
	value, state, started, err := maker.Bind(a.Tenant, a.ID, a.ExpiresAt)
	if err != nil {
		return seen, err
	}
	nonce, err := maker.Secret()
	if err != nil {
		return seen, err
	}
	verifier, err := maker.Secret()
	if err != nil {
		return seen, err
	}
	if a.Verifier, err = s.Sealer.Seal(ctx, a.Tenant, verifierBinding(a), []byte(verifier)); err != nil {
		return seen, fmt.Errorf("seal verifier: %w", err)
	}
	challenge := sha256.Sum256([]byte(verifier))
	started.URL, a.Authority, err = s.Party.Begin(ctx, provider, identity.Request{
		RedirectURI: provider.Callback(s.BaseURL), State: value, Nonce: nonce,
		Challenge: base64.RawURLEncoding.EncodeToString(challenge[:]),
	})
	if err != nil {
		return seen, fmt.Errorf("begin at the identity provider: %w", err)
	}
	a.Status, a.NonceHash = Open, binding.Hash(nonce)
	if err := s.Store.OpenAttempt(ctx, ticket, a, state); err != nil {
		if err = ended(ctx, s.Store, a, err); binding.IsCancelled(err) {
			return seen, err
		}
		return seen, binding.StartError(err)
	}
	tally.Count(ctx, tally.Begun)
	started.Look = a.Look
	return started, nil
}

// note adds the attempt and its owner to the log line.
func note(ctx context.Context, a Attempt) {
	logx.Add(ctx, slog.String("org_id", a.Tenant.OrgID), slog.String("mode", string(a.Tenant.Mode)),
		slog.String("attempt_id", a.ID))
}
