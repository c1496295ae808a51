package attempt

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/secret"
)

// exchangeTime is what a provider gets to answer a code exchange, so that the function can still answer the browser.
const exchangeTime = 20 * time.Second

// EndStore keeps attempts whose browser comes back.
type EndStore interface {
	Saver
	binding.States
}

// Completer takes browsers that come back from a provider. Every field is needed.
type Completer struct {
	Store      EndStore
	Party      Exchanger
	Verifiers  tokens.Sealer // of VerifierPurpose
	Assertions tokens.Sealer // of AssertionPurpose
	Enqueuer   Enqueuer
	Now        func() time.Time
}

// Return is what a browser brings back (RFC 6749 section 4.1.2, RFC 9207).
type Return struct {
	Provider  string // whose callback address it was brought to
	State     string
	Code      secret.Text
	Issuer    string                   // iss
	Error     string                   // error
	Cookie    func(name string) string // the browser's cookies
	RequestID string                   // of this request, which an error of it is found by
}

// Complete verifies the identity that a browser brings back, and has the network asked with it. known says that the
// attempt was found, and knows of an error; else the error is for a page.
func (c Completer) Complete(ctx context.Context, r Return) (known bool, err error) {
	state, err := binding.Take(ctx, c.Store, r.State, r.Cookie, c.Now(), func(there binding.State) {
		if strayed, unread := c.Store.Attempt(ctx, there.Tenant, there.AttemptID); unread == nil {
			note(ctx, strayed)
		}
	})
	if err != nil {
		return false, err
	}
	a, err := c.Store.Attempt(ctx, state.Tenant, state.AttemptID)
	if err != nil {
		return false, fmt.Errorf("read attempt: %w", err)
	}
	note(ctx, a)
	done := a
	done.Verifier = nil
	if err := c.verify(ctx, a, &done, r); err != nil {
		done.Status, done.Ending = Failed, endingOf(err, r.RequestID)
		logx.Add(ctx, slog.String("ended", done.Ending.Cause))
		if unstored := c.Store.SaveAttempt(ctx, done); unstored != nil {
			logx.Add(ctx, slog.Any("unstored", unstored)) // nobody hears of the end but the browser
		}
		return true, err
	}
	if err := c.Store.SaveAttempt(ctx, done); err != nil {
		return false, fmt.Errorf("store the verified identity: %w", err)
	}
	_ = c.Enqueuer.EnqueueAttempt(ctx, done.Tenant, done.ID) // the sweeper makes up for a lost message
	return true, nil
}

// verify puts the identity that a return stands for into done.
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

// endingOf is what an error is told as.
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
