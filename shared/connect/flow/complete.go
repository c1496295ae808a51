package flow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/connect/tally"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
	"recordbridge/shared/words/weburl"
)

// exchangeTime limits the wait for a code exchange, leaving the function enough time to respond to the browser.
const exchangeTime = 20 * time.Second

// initialsTime limits the wait for the patient's name, and therefore how long a slow portal can delay the result.
const initialsTime = 2 * time.Second

// Completer completes an attempt when the patient returns from the portal. Every field except SignIns is required.
type Completer struct {
	Store       EndStore
	Connections Connections // used only on a reconnect
	Portal      Exchanger
	Sealer      tokens.Sealer // uses the encryption key for PKCE verifiers
	Vault       tokens.Vault
	Hashing     secret.Keyring // keys of the hashes by which patients are compared
	Enqueuer    Enqueuer
	SignIns     requestlog.Recorder
	BaseURL     string // base URL of the service's API
	Own         weburl.Own
	Now         func() time.Time
	NewID       ids.Source
}

// Return holds the parameters with which a browser returns from a portal (RFC 6749 section 4.1.2, RFC 9207).
type Return struct {
	// Registration is the part of the callback path that follows CallbackPath, or empty for the shared callback.
	Registration string
	State        string
	Code         secret.Text
	Issuer       string                   // iss parameter
	Error        string                   // error parameter
	Cookie       func(name string) string // returns the value of the named cookie
	RequestID    string                   // ID of this request, for error messages
}

// Completed holds the browser's next destination and its parameters, which are either the result fields in
// docs/openapi.yaml or the attempt's error.
type Completed struct {
	Redirect      org.VerifiedRedirect
	InWidget      bool // whether a widget awaits the result, so the browser gets a page, not a redirect
	Look          binding.Look
	Result        url.Values
	ExternalID    string
	ExternalState string
}

// Complete ends an attempt when the patient returns from the portal. If an error comes with an empty Completed, there
// is no verified destination, and the error must be shown as a page. An error with a nonempty Completed is returned by
// redirect or shown to the widget's user. If Complete fails, it doesn't create or change a connection, except that a
// patient's first refusal creates a rejected connection. If the patient cancels the attempt before it completes,
// Complete discards the new tokens and returns an error for which binding.IsCancelled is true.
func (c Completer) Complete(ctx context.Context, r Return) (Completed, error) {
	done, err := c.complete(ctx, r)
	if err != nil {
		tally.Failed(ctx, err)
		return done, err
	}
	tally.Count(ctx, tally.Connected)
	return done, nil
}

func (c Completer) complete(ctx context.Context, r Return) (Completed, error) {
	attempt, err := c.returned(ctx, r)
	if err != nil {
		return Completed{}, err
	}
	done := Completed{
		Redirect: org.RestoreRedirect(c.Own, attempt.RedirectURI), InWidget: attempt.TokenHash != "",
		Look:       attempt.Look,
		ExternalID: attempt.ExternalID, ExternalState: attempt.ExternalState,
	}
	if !done.InWidget && done.Redirect.URI() == "" { // the redirect URL now points to the service itself
		tally.Count(ctx, tally.Service)
		return Completed{}, fault.BadRequest("This sign-in can't be completed: the application's redirect URI is not " +
			"allowed.")
	}
	conn, err := c.finish(ctx, attempt, r)
	if err != nil {
		return done, c.recordFailure(ctx, attempt, r, err)
	}
	done.Result = shortened(done.Redirect, result(attempt, succeeded(conn)))
	return done, nil
}

// returned consumes the state from a returning browser and looks up its attempt. A state can be used once, and only in
// the browser that started the attempt.
func (c Completer) returned(ctx context.Context, r Return) (Attempt, error) {
	state, err := binding.Take(ctx, c.Store, r.State, r.Cookie, c.Now(), func(there binding.State) {
		if attempt, err := c.Store.Attempt(ctx, there.Tenant, there.AttemptID); err == nil {
			note(ctx, attempt)
		}
	})
	if err != nil {
		return Attempt{}, err
	}
	attempt, err := c.Store.Attempt(ctx, state.Tenant, state.AttemptID)
	if err != nil {
		return Attempt{}, fmt.Errorf("read attempt: %w", err)
	}
	return attempt, nil
}

// finish determines an attempt's outcome and, if the attempt succeeded, stores the connection. If the attempt was
// cancelled, finish doesn't contact the portal.
func (c Completer) finish(ctx context.Context, attempt Attempt, r Return) (connection.Connection, error) {
	if err := attempt.cancelled(); err != nil {
		return connection.Connection{}, err
	}
	if callbackURI(c.BaseURL, r.Registration) != attempt.Callback {
		logx.Add(ctx, slog.String("event", "wrong_callback"))
		return connection.Connection{}, failed(causeCallback, portalError(fault.StepCallback, attempt.Server, causeCallback))
	}
	if !attempt.returned(r.Issuer) {
		return connection.Connection{}, failed(causeIssuer, portalError(fault.StepCallback, attempt.Server, causeIssuer))
	}
	if r.Error == "access_denied" {
		return connection.Connection{}, failed(causeDeclined, portalError(fault.StepAuthorize, attempt.Server, causeDeclined))
	}
	if r.Error != "" {
		return connection.Connection{}, portalRefused(attempt.Server, r.Error)
	}
	if r.Code.Empty() {
		return connection.Connection{}, failed(causeNoCode, portalError(fault.StepCallback, attempt.Server, causeNoCode))
	}
	set, err := c.exchange(ctx, attempt, r.Code)
	if err != nil {
		return connection.Connection{}, err
	}
	attempt.Ending.Initials = c.initials(ctx, attempt, set) // read once here, because reconnect may retry
	if attempt.Reconnect != "" {
		return c.reconnect(ctx, attempt, set)
	}
	return c.connect(ctx, attempt, set)
}

// errAnswer represents an error that the portal returned through the browser. The error's cause is retained, but the
// portal's text is not.
var errAnswer = errors.New("the portal's answer")

// portalError returns a loggable error for a response that a portal returned through the browser.
func portalError(step fault.Step, by Server, cause string) error {
	return fault.Spot{Step: step, Host: fault.HostOf(by.AuthorizationEndpoint), Class: cause}.Failed(errAnswer)
}

func portalRefused(by Server, code string) error {
	cause := causeOf(refused(code, causePortal, nil))
	return failed(cause, portalError(fault.StepAuthorize, by, cause))
}

// errUnnamed is returned if the portal's token response does not identify a patient. Without a patient ID, an export
// could neither read the record nor attribute it to a person (docs/reference/deviations.md, "Connecting").
var errUnnamed = errors.New("the portal named no patient")

// unnamed returns a loggable error for a token response that does not identify a patient.
func unnamed(by Server) error {
	return fault.Spot{
		Step: fault.StepIdentity, Host: fault.HostOf(by.TokenEndpoint), Class: causeNoPatient,
	}.Failed(errUnnamed)
}

// exchange exchanges the authorization code for tokens. Tokens that do not identify a patient are discarded but not
// revoked, because at some portals, revoking one grant ends all of the app's grants.
func (c Completer) exchange(ctx context.Context, attempt Attempt, code secret.Text) (tokens.Set, error) {
	verifier, err := c.Sealer.Open(ctx, attempt.Tenant, verifierBinding(attempt), attempt.Verifier)
	if err != nil {
		return tokens.Set{}, fmt.Errorf("open verifier: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	set, err := c.Portal.Exchange(ctx, Grant{Attempt: attempt, Code: code, Verifier: secret.New(string(verifier))})
	refusal, isRefusal := errors.AsType[*PortalError](err)
	switch {
	case err == nil && set.PatientID.Empty():
		return tokens.Set{}, failed(causeNoPatient, unnamed(attempt.Server))
	case err == nil:
		set.AskedScope = attempt.Scope
		return set, nil
	case isRefusal && refusal.AmbiguousBasic:
		return tokens.Set{}, failed(causeEncoding, err)
	case isRefusal:
		return tokens.Set{}, refused(refusal.Code, causeExchange, err)
	case errors.Is(err, fault.Unavailable):
		return tokens.Set{}, failed(causeUnproven, err)
	case errors.Is(err, context.DeadlineExceeded):
		return tokens.Set{}, failed(causeNoAnswer, err)
	}
	return tokens.Set{}, failed(causeExchange, err)
}
