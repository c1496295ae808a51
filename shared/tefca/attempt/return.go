package attempt

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// exchangeTime is a provider's time limit for exchanging a code. The limit leaves the function enough time to respond
// to the browser.
const exchangeTime = 20 * time.Second

// EndStore stores attempts after the browser returns from the identity provider.
type EndStore interface {
	Saver
	binding.States
}

// Completer handles browsers that return from an identity provider. All fields except SignIns are required.
type Completer struct {
	Store      EndStore
	Party      Exchanger
	Verifiers  tokens.Sealer // uses VerifierPurpose
	Assertions tokens.Sealer // uses AssertionPurpose
	Enqueuer   Enqueuer
	SignIns    requestlog.Recorder
	Now        func() time.Time
}

// Return holds the query parameters of a provider's redirect to the service (RFC 6749 section 4.1.2, RFC 9207).
type Return struct {
	Provider  string // provider named in the callback URL
	State     string
	Code      secret.Text
	Issuer    string                   // iss parameter
	Error     string                   // error parameter
	Cookie    func(name string) string // returns the browser's cookie with the given name
	RequestID string                   // ID of this request, displayed with errors
}

// Completed describes the window in which a browser returned from the provider.
type Completed struct {
	Known bool         // whether the attempt exists and stores the error; if not, the caller must display the error
	Look  binding.Look // zero if the attempt was not found
}

// Complete verifies a returning browser's identity and queues the network query. If the patient cancelled the attempt
// first, Complete discards the identity and returns an error for which binding.IsCancelled is true.
func (c Completer) Complete(ctx context.Context, r Return) (Completed, error) {
	done, err := c.complete(ctx, r)
	if err != nil {
		tally.Failed(ctx, err)
	}
	return done, err
}

func (c Completer) complete(ctx context.Context, r Return) (Completed, error) {
	state, err := binding.Take(ctx, c.Store, r.State, r.Cookie, c.Now(), func(there binding.State) {
		if strayed, unread := c.Store.Attempt(ctx, there.Tenant, there.AttemptID); unread == nil {
			note(ctx, strayed)
		}
	})
	if err != nil {
		return Completed{}, err
	}
	a, err := c.Store.Attempt(ctx, state.Tenant, state.AttemptID)
	if err != nil {
		return Completed{}, fmt.Errorf("read attempt: %w", err)
	}
	note(ctx, a)
	known := Completed{Known: true, Look: a.Look}
	if err = a.cancelled(); err != nil {
		return known, err
	}
	done := a
	done.Verifier = nil
	if err := c.verify(ctx, a, &done, r); err != nil {
		done.Status, done.Ending = Failed, endingOf(err, r.RequestID)
		logx.Add(ctx, slog.String("ended", done.Ending.Cause))
		if unstored := c.Store.SaveAttempt(ctx, done); unstored != nil {
			if unstored = ended(ctx, c.Store, a, unstored); binding.IsCancelled(unstored) {
				return known, unstored
			}
			logx.Add(ctx, slog.Any("unstored", unstored)) // The failure isn't stored, so only this browser sees it.
			return known, err
		}
		c.SignIns.SignIn(ctx, unsuccessful(done, requestlog.Failed, c.Now()), done.ExternalID)
		return known, err
	}
	if err := c.Store.SaveAttempt(ctx, done); err != nil {
		if err = ended(ctx, c.Store, a, err); binding.IsCancelled(err) {
			return known, err
		}
		return Completed{Look: a.Look}, fmt.Errorf("store the verified identity: %w", err)
	}
	_ = c.Enqueuer.EnqueueAttempt(ctx, done.Tenant, done.ID) // The sweeper resends a lost message.
	return known, nil
}

// verify exchanges a redirect's code for the person's identity and stores the identity in done.
func (c Completer) verify(ctx context.Context, a Attempt, done *Attempt, r Return) error {
	verifier, err := c.Verifiers.Open(ctx, a.Tenant, verifierBinding(a), a.Verifier)
	if err != nil {
		return fmt.Errorf("open verifier: %w", err)
	}
	asking, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	who, err := c.Party.Exchange(asking, a.Authority, identity.Return{
		Provider: r.Provider, Code: r.Code, Issuer: r.Issuer, Error: r.Error, Verifier: secret.New(string(verifier)),
		NonceHash: a.NonceHash,
	})
	if err != nil {
		return fmt.Errorf("verify the identity: %w", err)
	}
	now := c.Now()
	done.IdentityEnds = earlier(who.ExpiresAt, a.ExpiresAt)
	if !now.Before(done.IdentityEnds) {
		return identity.Expired()
	}
	if done.Assertion, err = sealAssertion(ctx, c.Assertions, a, who); err != nil {
		return err
	}
	done.Status, done.DueAt = Locating, now
	return nil
}

// unsuccessful returns the request log's row for an attempt that ended before a facility was chosen.
func unsuccessful(a Attempt, outcome requestlog.Outcome, now time.Time) requestlog.SignIn {
	return requestlog.SignIn{
		Tenant: a.Tenant, AttemptID: a.ID, At: now, Kind: requestlog.TEFCA, Outcome: outcome, Cause: a.Ending.Cause,
		RequestID: a.Ending.RequestID, Duration: now.Sub(a.CreatedAt),
	}
}

// endingOf returns the Ending that describes err.
func endingOf(err error, requestID string) Ending {
	shown := fault.Of(err)
	if shown.Kind == fault.Internal {
		return Ending{
			Error: string(fault.CodeServerError), Description: fault.Of(nil).Public, Cause: causeInternal,
			RequestID: requestID,
		}
	}
	return Ending{
		Error: string(shown.Code.InBrowser()), Description: shown.Public, Cause: causeOf(err),
		RequestID: requestID,
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
