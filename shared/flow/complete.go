package flow

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"recordbridge/shared/connection"
	"recordbridge/shared/fault"
	"recordbridge/shared/ids"
	"recordbridge/shared/org"
	"recordbridge/shared/secret"
	"recordbridge/shared/tokens"
	"recordbridge/shared/webhook"
)

// exchangeTime is what a portal gets to answer a code exchange, so that the function can still answer the browser
// (architecture section 1).
const exchangeTime = 20 * time.Second

// Completer ends attempts when the patient comes back.
type Completer struct {
	Store    Store
	Portal   Portal
	Sealer   tokens.Sealer // under the key for verifiers
	Vault    tokens.Vault
	Hashing  secret.Keyring // for comparing patients
	Nudger   Nudger
	Callback string
	Now      func() time.Time
	NewID    ids.Source
}

// Return is what a browser brings back from a portal (RFC 6749 section 4.1.2, RFC 9207).
type Return struct {
	State  string
	Code   secret.Text
	Issuer string                   // iss
	Error  string                   // error
	Cookie func(name string) string // the browser's cookies
}

// Completed is where the browser goes next and with what: the result fields of spec 4.12, or an error of the attempt.
type Completed struct {
	Redirect      org.VerifiedRedirect
	Result        url.Values
	ExternalState string
}

// Complete ends an attempt. An error with an empty Completed has no proven place to go and is for a page; one with a
// Completed goes back by redirect. In both cases no connection was made, except for the rejected one that a patient's
// refusal leaves.
func (c Completer) Complete(ctx context.Context, r Return) (Completed, error) {
	if r.State == "" {
		return Completed{}, fault.BadRequest("This address is not complete. Return to the application and try again.")
	}
	state, err := c.Store.TakeState(ctx, hash(r.State), hash(r.Cookie(CookieName(r.State))), c.Now())
	if errors.Is(err, fault.NotFound) {
		return Completed{}, fault.BadRequest("This sign-in was used before, has expired, or was begun in another browser. " +
			"Return to the application and try again.").Because(err)
	}
	if err != nil {
		return Completed{}, fmt.Errorf("take state: %w", err)
	}
	attempt, err := c.Store.Attempt(ctx, state.Tenant, state.AttemptID)
	if err != nil {
		return Completed{}, fmt.Errorf("read attempt: %w", err)
	}
	done := Completed{Redirect: org.RestoreRedirect(attempt.RedirectURI), ExternalState: attempt.ExternalState}
	conclusion, err := c.settle(ctx, attempt, r)
	if err != nil {
		// What went wrong is told to the browser; that the attempt has ended so is worth a try to remember.
		_ = c.Store.ConcludeAttempt(ctx, Conclusion{Attempt: attempt, Error: string(fault.Of(err).Code)})
		return done, err
	}
	if err := c.Store.ConcludeAttempt(ctx, conclusion); err != nil {
		return done, fmt.Errorf("conclude attempt: %w", err)
	}
	for _, event := range conclusion.Events {
		_ = c.Nudger.NudgeEvent(ctx, event.Tenant, event.ID) // the sweeper makes up for a lost nudge
	}
	if conclusion.Connection.Status == connection.Rejected {
		return done, fault.New(fault.Upstream, "access_denied", "The patient declined to share records at the patient portal.")
	}
	done.Result = result(attempt, conclusion.Connection)
	return done, nil
}

// settle decides what an attempt ends with, without storing anything.
func (c Completer) settle(ctx context.Context, attempt Attempt, r Return) (Conclusion, error) {
	if (attempt.IssRequired || r.Issuer != "") && attempt.Issuer != "" && r.Issuer != attempt.Issuer {
		return Conclusion{}, fault.BadRequest("The answer came from another server than the one that was asked.")
	}
	if r.Error == "access_denied" {
		return c.conclude(attempt, c.newConnection(attempt, connection.Rejected), tokens.Row{})
	}
	if r.Error != "" {
		return Conclusion{}, portalFault(r.Error, nil)
	}
	if r.Code.Empty() {
		return Conclusion{}, fault.BadRequest("The patient portal sent neither a code nor an error.")
	}
	set, err := c.exchange(ctx, attempt, r.Code)
	if err != nil {
		return Conclusion{}, err
	}
	conn := c.newConnection(attempt, connection.Authorized)
	conn.Scope = set.Scope
	if !set.PatientID.Empty() { // two unknown patients are not the same one
		conn.Patient = c.Hashing.Sign([]byte("patient|" + attempt.FHIRBase + "|" + set.PatientID.Reveal()))
	}
	row, err := c.Vault.Seal(ctx, attempt.Tenant, conn.ID, 1, set)
	if err != nil {
		return Conclusion{}, err
	}
	return c.conclude(attempt, conn, row)
}

func (c Completer) exchange(ctx context.Context, attempt Attempt, code secret.Text) (tokens.Set, error) {
	verifier, err := c.Sealer.Open(ctx, attempt.Tenant, verifierBinding(attempt), attempt.Verifier)
	if err != nil {
		return tokens.Set{}, fmt.Errorf("open verifier: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	set, err := c.Portal.Exchange(ctx, Grant{
		Tenant: attempt.Tenant, ClientAuthID: attempt.ClientAuthID, Upstream: attempt.Upstream,
		TokenEndpoint: attempt.TokenEndpoint, Issuer: attempt.Issuer, KeySet: attempt.KeySet, Userinfo: attempt.Userinfo,
		NonceHash: attempt.NonceHash, ClientID: attempt.ClientID, RedirectURI: c.Callback,
		FHIRBase: attempt.FHIRBase, Scope: attempt.Scope, RepeatScope: attempt.RepeatScope, Code: code, Verifier: secret.New(string(verifier)),
	})
	if refusal, ok := errors.AsType[*PortalError](err); ok {
		return tokens.Set{}, portalFault(refusal.Code, err)
	}
	if err != nil {
		return tokens.Set{}, portalFault("", err)
	}
	return set, nil
}

// portalFault passes the health system's own code through when it is one of spec section 7.2; any other is ours.
func portalFault(code string, cause error) error {
	switch code {
	case "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return fault.New(fault.Upstream, fault.Code(code), "The patient portal refused the request.").Because(cause)
	}
	return fault.New(fault.Upstream, fault.CodeTokenExchange,
		"The sign-in at the patient portal could not be completed. Please try again.").Because(cause)
}

func (c Completer) newConnection(attempt Attempt, status connection.Status) connection.Connection {
	return connection.Connection{
		ID: c.NewID(), Tenant: attempt.Tenant, Status: status, BrandID: attempt.BrandID, PortalID: attempt.PortalID,
		EndpointID: attempt.EndpointID, PlatformType: attempt.PlatformType, Generation: 1, CreatedAt: c.Now(),
	}
}

func (c Completer) conclude(attempt Attempt, conn connection.Connection, row tokens.Row) (Conclusion, error) {
	event, err := webhook.NewEvent(conn.Tenant, webhook.ConnectionSucceeded, conn.ID, conn.Generation, conn.CreatedAt, webhook.ConnectionSuccess{
		OrgConnectionID: conn.ID, EndpointID: conn.EndpointID, PortalID: conn.PortalID, BrandID: conn.BrandID,
		ConnectionStatus: string(conn.Status), PlatformType: conn.PlatformType, RequestID: attempt.RequestID,
		ExternalID: attempt.ExternalID, ExternalState: attempt.ExternalState, Scope: conn.Scope,
	})
	if err != nil {
		return Conclusion{}, err
	}
	return Conclusion{Attempt: attempt, Connection: conn, Tokens: row, Events: []webhook.Event{event}}, nil
}

// result are the fields of spec section 4.12.
func result(attempt Attempt, conn connection.Connection) url.Values {
	fields := url.Values{
		"org_connection_id": {conn.ID},
		"endpoint_id":       {conn.EndpointID},
		"portal_id":         {conn.PortalID},
		"brand_id":          {conn.BrandID},
		"connection_status": {string(conn.Status)},
		"platform_type":     {conn.PlatformType},
		"request_id":        {attempt.RequestID},
	}
	if attempt.ExternalID != "" {
		fields.Set("external_id", attempt.ExternalID)
	}
	if attempt.ExternalState != "" {
		fields.Set("external_state", attempt.ExternalState)
	}
	return fields
}
