package flow

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/requestlog"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/timestamp"
)

// connect stores the connection for a patient's first authorisation.
func (c Completer) connect(ctx context.Context, attempt Attempt, set tokens.Set) (connection.Connection, error) {
	now := c.Now()
	conn := c.newConnection(attempt, now)
	c.authorize(&conn, attempt, set, now)
	return conn, c.conclude(ctx, attempt, conn, set, 1)
}

func (c Completer) newConnection(attempt Attempt, now time.Time) connection.Connection {
	conn := connection.Connection{
		ID: c.NewID(), Tenant: attempt.Tenant, BrandID: attempt.BrandID, PortalID: attempt.PortalID,
		EndpointID: attempt.EndpointID, PlatformType: attempt.PlatformType, CreatedAt: now,
	}
	c.mark(&conn, attempt)
	return conn
}

// mark stores a connection's external ID and its hash. The external ID comes from the latest attempt that supplied one.
func (c Completer) mark(conn *connection.Connection, attempt Attempt) {
	if attempt.ExternalID != "" {
		conn.ExternalID = attempt.ExternalID
		conn.External = c.Hashing.Sign(connection.ExternalText(attempt.Tenant, attempt.ExternalID))
	}
}

// authorize updates the connection with the patient's new grant. The connection's scope becomes the granted scope, even
// if it is narrower than the requested scope.
func (c Completer) authorize(conn *connection.Connection, attempt Attempt, set tokens.Set, now time.Time) {
	conn.Status, conn.Scope, conn.ConsentExpiresAt = connection.Authorized, set.Scope, set.ConsentExpiresAt
	conn.Refresh = connection.RefreshState{RefreshAt: refresh.Next(conn.ID, set, now), ConsentFixed: set.ConsentStated}
	if set.RefreshToken.Empty() {
		*conn = conn.EndingAt(set.ExpiresAt)
	}
	conn.Generation++
	c.mark(conn, attempt)
	if len(conn.Patient.Sum) == 0 && !set.PatientID.Empty() { // two unknown patients never match
		conn.Patient = c.Hashing.Sign(patientText(attempt, set))
	}
}

// patientText returns the input to a patient's keyed hash.
func patientText(attempt Attempt, set tokens.Set) []byte {
	return []byte("patient|" + attempt.FHIRBase + "|" + set.PatientID.Reveal())
}

// conclude stores an authorised connection with its tokens and emits the connection's event. If consent ends within the
// usual warning period, conclude immediately emits the expiry warning as well. It returns fault.Conflict in the same
// cases as Store.ConcludeAttempt.
func (c Completer) conclude(ctx context.Context, attempt Attempt, conn connection.Connection, set tokens.Set,
	version int64,
) error {
	row, err := c.Vault.Seal(ctx, attempt.Tenant, conn.ID, version, set)
	if err != nil {
		return err
	}
	now := c.Now()
	event, err := connectionEvent(attempt, conn, attempt.RequestID, now)
	if err != nil {
		return err
	}
	warnings, err := refresh.WarnAtOnce(&conn, now)
	if err != nil {
		return err
	}
	end := Conclusion{
		Attempt: attempt, Initials: attempt.Ending.Initials, Connection: conn, Tokens: row,
		Events: append([]webhook.Event{event}, warnings...),
	}
	if err := c.Store.ConcludeAttempt(ctx, end); err != nil {
		return fmt.Errorf("conclude attempt: %w", ended(ctx, c.Store, attempt, err))
	}
	note(ctx, attempt)
	logx.Add(ctx, slog.String("connection_id", conn.ID))
	c.enqueue(ctx, end.Events)
	signedIn := signIn(attempt, requestlog.Connected, now)
	signedIn.ConnectionID = conn.ID
	c.SignIns.SignIn(ctx, signedIn, attempt.ExternalID)
	return nil
}

// signIn returns the request log's row for a finished attempt.
func signIn(a Attempt, outcome requestlog.Outcome, now time.Time) requestlog.SignIn {
	kind := requestlog.Connect
	if a.Reconnect != "" {
		kind = requestlog.Reconnect
	}
	return requestlog.SignIn{
		Tenant: a.Tenant, AttemptID: a.ID, At: now, Kind: kind, Outcome: outcome, RequestID: a.RequestID,
		BrandID: a.BrandID, PortalID: a.PortalID, EndpointID: a.EndpointID, Duration: now.Sub(a.CreatedAt),
		ConnectionID: a.Reconnect,
	}
}

// initials returns the patient's initials, which the widget shows to confirm whose records are shared. It returns "" if
// the portal doesn't respond within initialsTime. In redirect mode, initials doesn't read the patient's name, because
// no page of the service shows the result.
func (c Completer) initials(ctx context.Context, attempt Attempt, set tokens.Set) string {
	if attempt.TokenHash == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, initialsTime)
	defer cancel()
	return c.Portal.Initials(ctx, set)
}

// note adds the attempt's tenant to the log line.
func note(ctx context.Context, attempt Attempt) {
	logx.Add(ctx, slog.String("org_id", attempt.Tenant.OrgID), slog.String("mode", string(attempt.Tenant.Mode)),
		slog.String("endpoint_id", attempt.EndpointID), slog.String("attempt_id", attempt.ID))
	if attempt.Reconnect != "" {
		logx.Add(ctx, slog.String("connection_id", attempt.Reconnect))
	}
}

// recordFailure stores an attempt's failure, emits the corresponding event and returns the failure. A patient's refusal
// creates a rejected connection unless a connection already exists. Any failure other than a refusal emits the opt-in
// event for failed attempts. The browser gets the error even if storing the failure fails. If the patient has already
// cancelled the attempt, recordFailure returns the cancellation and doesn't store the failure.
func (c Completer) recordFailure(ctx context.Context, attempt Attempt, r Return, err error) error {
	shown, now := fault.Of(err), c.Now()
	end := Conclusion{
		Attempt: attempt, Error: string(shown.Code.InBrowser()), Description: shown.Public,
		Cause: causeOf(err), RequestID: r.RequestID,
	}
	if shown.Kind == fault.Internal {
		end.Error, end.Description = string(fault.CodeServerError), fault.Of(nil).Public
	}
	note(ctx, attempt)
	logx.Add(ctx, slog.String("ended", end.Cause))
	if binding.IsCancelled(err) {
		return err
	}
	var event webhook.Event
	var eventErr error
	switch {
	case end.Cause != causeDeclined:
		event, eventErr = failureEvent(end, now)
	case attempt.Reconnect != "":
		return c.store(ctx, end, err)
	default:
		end.Connection = c.newConnection(attempt, now)
		end.Connection.Status, end.Connection.Generation = connection.Rejected, 1
		event, eventErr = connectionEvent(attempt, end.Connection, end.RequestID, now)
	}
	if eventErr == nil {
		end.Events = []webhook.Event{event}
	}
	return c.store(ctx, end, err)
}

// store tries to store a failed attempt's outcome, and returns the error for the browser.
func (c Completer) store(ctx context.Context, end Conclusion, failure error) error {
	if err := c.Store.ConcludeAttempt(ctx, end); err != nil {
		if err = ended(ctx, c.Store, end.Attempt, err); binding.IsCancelled(err) {
			return err
		}
		logx.Add(ctx, slog.Any("unstored", err)) // only the browser learns of the failure
		return failure
	}
	c.enqueue(ctx, end.Events)
	row := signIn(end.Attempt, requestlog.Failed, c.Now())
	row.Cause, row.RequestID = end.Cause, end.RequestID
	row.ConnectionID = cmp.Or(end.Connection.ID, row.ConnectionID)
	c.SignIns.SignIn(ctx, row, end.Attempt.ExternalID)
	return failure
}

func (c Completer) enqueue(ctx context.Context, events []webhook.Event) {
	for _, event := range events {
		_ = c.Enqueuer.EnqueueEvent(ctx, event.Tenant, event.ID) // the sweeper resends a lost message
	}
}

// connectionEvent returns the event for an authorisation or a refusal. The event's sequence number is the connection's
// generation, so a reconnect yields a separate event. requestID must match the redirect that reports the outcome. For
// an authorisation, requestID is the caller's ID; for a refusal, it is the error's unique ID (docs/openapi.yaml).
func connectionEvent(attempt Attempt, conn connection.Connection, requestID string,
	now time.Time,
) (webhook.Event, error) {
	return webhook.NewEvent(conn.Tenant, webhook.ConnectionSucceeded, conn.ID, conn.Generation, now,
		webhook.ConnectionSuccess{
			OrgConnectionID: conn.ID, EndpointID: conn.EndpointID, PortalID: conn.PortalID, BrandID: conn.BrandID,
			ConnectionStatus: string(conn.Status), PlatformType: conn.PlatformType, RequestID: requestID,
			ExternalID: attempt.ExternalID, ExternalState: attempt.ExternalState, Scope: conn.Scope,
			ConsentExpiresAt: timestamp.Of(conn.ConsentExpiresAt),
		})
}

// failureEvent returns the event for a failed attempt. The event's request ID is the one that the browser shows with
// the error.
func failureEvent(end Conclusion, now time.Time) (webhook.Event, error) {
	attempt := end.Attempt
	return webhook.NewEvent(attempt.Tenant, webhook.ConnectionFailed, attempt.ID, 0, now, webhook.ConnectionFailure{
		EndpointID: attempt.EndpointID, PortalID: attempt.PortalID, BrandID: attempt.BrandID,
		PlatformType:    attempt.PlatformType,
		OrgConnectionID: attempt.Reconnect, RequestID: end.RequestID, ExternalID: attempt.ExternalID,
		ExternalState: attempt.ExternalState,
		Error:         end.Error, ErrorDescription: end.Description, Cause: end.Cause,
		SuggestedAction: causes()[end.Cause].Action,
	})
}
