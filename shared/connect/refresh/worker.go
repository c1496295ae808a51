package refresh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

const (
	// retryBusyAfter is the delay before a retry while another worker holds the tokens.
	retryBusyAfter = 2 * time.Minute
	// outageWait is the minimum delay before a retry after an AWS service failed, and the period over which the retries
	// are spread. The delay doesn't grow, so that work continues soon after the service has recovered.
	outageWait = 2 * time.Minute
	// newConsent is the minimum change in the consent's expiry that indicates a new consent. An expiry stated as a
	// duration, such as expires_in, shifts by a few seconds with each response.
	newConsent = 24 * time.Hour
	// sameEnd is the maximum shift at which the end of consent still counts as fixed.
	sameEnd = 5 * time.Minute
)

// Opener decrypts sealed values from a Store (kms.Sealer).
type Opener interface {
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Enqueuer queues events for the webhook worker. If a message is lost, the sweeper sends the event again.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Worker processes connections that are due. Process is idempotent: a duplicate, late or forged call finds nothing due
// and changes nothing.
type Worker struct {
	store    Store
	tokens   Tokens
	state    EndpointState
	revoker  Revoker
	opener   Opener
	records  Records
	ender    Ender
	enqueuer Enqueuer
	now      func() time.Time
}

// Ender completes requested disconnections, leaving only the tokens needed for upstream revocation. Ender does not
// change authorized connections, and is idempotent (disconnect.Disconnector).
type Ender interface {
	Finish(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// NewWorker returns a Worker. All arguments are required. opener decrypts values sealed under UpstreamPurpose.
func NewWorker(
	store Store, refresher Tokens, state EndpointState, revoker Revoker, opener Opener, records Records, ender Ender,
	enqueuer Enqueuer,
	now func() time.Time,
) Worker {
	return Worker{
		store: store, tokens: refresher, state: state, revoker: revoker, opener: opener, records: records, ender: ender,
		enqueuer: enqueuer, now: now,
	}
}

// Process performs the action that is due for a connection, if any: an upstream revocation attempt, a refresh, or the
// warning that consent will soon end. If a disconnection was requested, Process always completes it. Process saves the
// connection in every case, to correct the due time that the scheduler has postponed. All errors are internal, and the
// call can be retried.
func (w Worker) Process(ctx context.Context, tenant org.Tenant, connectionID string) error {
	c, err := w.store.Connection(ctx, tenant, connectionID)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read connection: %w", err)
	}
	logx.Add(ctx, slog.String("connection_id", c.ID), slog.String("org_id", tenant.OrgID),
		slog.String("mode", string(tenant.Mode)),
		slog.String("endpoint_id", c.EndpointID))
	now := w.now()
	switch authorized := c.Status == connection.Authorized; {
	case authorized && reached(c.Refresh.RefreshAt, now):
		return w.refresh(ctx, c)
	case !authorized && !c.Refresh.UpstreamUntil.IsZero():
		return w.revokeRemaining(ctx, c)
	case reached(c.WarnAt(), now):
		return w.warn(ctx, c)
	}
	return w.putBack(ctx, c)
}

// putBack saves an unchanged connection that is not due, to correct the due time that the scheduler has postponed.
func (w Worker) putBack(ctx context.Context, c connection.Connection) error {
	if err := w.store.SaveConnection(ctx, c); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("put connection back: %w", err)
	}
	return nil
}

func reached(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

func (w Worker) refresh(ctx context.Context, seen connection.Connection) error {
	renewed, err := w.tokens.Refresh(ctx, seen.Tenant, seen.ID)
	// The outcome is stored even after the function's deadline, because a lost outcome would require another refresh.
	ctx = context.WithoutCancel(ctx)
	now := w.now()
	refusal, isRefused := errors.AsType[*tokens.RefusalError](err)
	busy, isBusy := errors.AsType[*BusyError](err)
	last, isLast := errors.AsType[*tokens.UnrenewableError](err)
	switch {
	case err == nil:
		logOutcome(ctx, "renewed")
		return w.amend(ctx, seen, news, func(c *connection.Connection) { renew(c, renewed.Set, now) })
	case isRefused:
		logx.Add(ctx, logx.Spot(fault.SpotOf(err))...)
		return w.handleRefusal(ctx, seen, refusal)
	case fault.Outage(err):
		return w.waitOut(ctx, seen, err)
	case isBusy:
		return w.postpone(ctx, seen, "busy", busy.RetryAt.Add(spread(seen.ID, crowdSpread)))
	case isLast:
		return w.outlast(ctx, seen, last)
	case errors.Is(err, fault.NotFound):
		return w.postpone(ctx, seen, "nothing_to_renew", time.Time{})
	case errors.Is(err, fault.Conflict):
		return w.postpone(ctx, seen, "others_at_work", now.Add(retryBusyAfter))
	}
	return w.recordFailure(ctx, seen, err)
}

// logOutcome adds a refresh's outcome to the log line and counts it.
func logOutcome(ctx context.Context, outcome string) {
	logx.Add(ctx, slog.String("refresh", outcome))
	logx.Measure(ctx, metric.Count(metric.Refreshes, outcome))
}

// renew updates c with the token set obtained by a refresh at time now. Fields for which the token set has no value
// remain unchanged.
func renew(c *connection.Connection, set tokens.Set, now time.Time) {
	if set.Scope != "" {
		c.Scope = set.Scope
	}
	if ends := set.ConsentExpiresAt; !ends.IsZero() {
		moved := ends.Sub(c.ConsentExpiresAt).Abs()
		if moved > newConsent {
			c.Refresh.Warned = false
		}
		c.Refresh.ConsentFixed = set.ConsentStated || moved <= sameEnd
		c.ConsentExpiresAt = ends
	}
	c.Refresh.RefreshAt = Next(c.ID, set, now)
	c.Refresh.RenewedAt, c.Refresh.Failures, c.Refresh.FailureClass = now, 0, ""
	c.Refresh.RefusedAt, c.Refresh.RefusedVersion = time.Time{}, 0
}

// outlast schedules a connection's end at the expiry of its unrefreshable access token, or ends the connection if the
// token has expired. The surge guard does not apply, because the expiry depends on the local clock, not on the token
// endpoint.
func (w Worker) outlast(ctx context.Context, seen connection.Connection, last *tokens.UnrenewableError) error {
	if w.now().Before(last.ExpiresAt) {
		logOutcome(ctx, "nothing_to_renew")
		return w.amend(ctx, seen, noNews, func(c *connection.Connection) { *c = c.EndingAt(last.ExpiresAt) })
	}
	return w.endOnConflict(ctx, seen, func(c connection.Connection) error {
		return w.revoke(ctx, c, connection.AccessEnded, last.Version)
	})
}

// postpone changes or clears the connection's due time for a reason other than a failure.
func (w Worker) postpone(ctx context.Context, seen connection.Connection, why string, until time.Time) error {
	logOutcome(ctx, why)
	return w.amend(ctx, seen, noNews, func(c *connection.Connection) { c.Refresh.RefreshAt = until })
}

// waitOut postpones a refresh because an AWS service failed. The failure isn't counted or stored with the connection,
// because it says nothing about the connection.
func (w Worker) waitOut(ctx context.Context, seen connection.Connection, outage error) error {
	next := w.now().Add(outageWait + spread(seen.ID, outageWait))
	logOutage(ctx, outage, next)
	return w.postpone(ctx, seen, "put_off", next)
}

// logOutage logs that work waits because an AWS service failed.
func logOutage(ctx context.Context, outage error, next time.Time) {
	logx.Add(ctx, slog.String("result", "put_off"), slog.Time("next_at", next), slog.Any("cause", outage))
	logx.Add(ctx, logx.Spot(fault.SpotOf(outage))...)
}

// recordFailure records a failure that does not indicate withdrawn consent, however often it recurs.
func (w Worker) recordFailure(ctx context.Context, seen connection.Connection, cause error) error {
	now := w.now()
	logOutcome(ctx, "failed")
	logx.Add(ctx, logx.Failed(), slog.Any("cause", cause), slog.Int("setbacks", seen.Refresh.Failures+1))
	logx.Add(ctx, logx.Spot(fault.SpotOf(cause))...)
	if answer, ok := errors.AsType[answered](cause); ok {
		logx.Add(ctx, slog.Any("answer", answer))
	}
	return w.amend(ctx, seen, noNews, func(c *connection.Connection) {
		c.Refresh.Failures++
		c.Refresh.FailureClass = classOf(fault.SpotOf(cause))
		c.Refresh.RefreshAt = now.Add(backOff(c.ID, c.Refresh.Failures, requestedWait(cause)))
		logx.Add(ctx, slog.Time("next_at", c.Refresh.RefreshAt))
	})
}

// classOf returns the value of RefreshState.FailureClass for a failure. The value is the failure's class or, if a row
// could not be read, the name of its unreadable field.
func classOf(at fault.Spot) string {
	if at.Row != "" {
		return at.Row + "." + at.Attribute
	}
	return at.Class
}

// answered is implemented by errors that include a token endpoint's response. When logged, such an error provides the
// response's class and status, but no text (smart.OAuthError).
type answered interface {
	error
	slog.LogValuer
}

// Values of the parameter hasNews, which reports whether a change contains information that concurrent changes can't
// contain.
const (
	news   = true
	noNews = false
)

// amend changes and saves the connection that was read. After a conflict, amend instead changes the stored connection,
// provided that its authorisation and status are unchanged. If hasNews is false, a concurrent change that set a
// different due time takes precedence.
func (w Worker) amend(ctx context.Context, seen connection.Connection, hasNews bool,
	change func(*connection.Connection),
) error {
	isOver := func(_, now connection.Connection) (bool, error) {
		return movedOn(seen, now) || !hasNews && !now.Refresh.RefreshAt.Equal(seen.Refresh.RefreshAt), nil
	}
	return w.onConflict(ctx, seen, isOver, func(c connection.Connection) error {
		change(&c)
		if err := w.store.SaveConnection(ctx, c); err != nil {
			return fmt.Errorf("save connection: %w", err)
		}
		return nil
	})
}

// onConflict calls try first with the connection that was read and then, after each conflict, with the stored
// connection. It stops without an error if the connection no longer exists or if isOver, given the connection before
// and after the conflict, returns true.
func (w Worker) onConflict(
	ctx context.Context, seen connection.Connection, isOver func(before, now connection.Connection) (bool, error),
	try func(connection.Connection) error,
) error {
	c, isAgain := seen, false
	return retry.OnConflict(ctx, retry.Tries, func() error {
		if isAgain {
			now, err := w.store.Connection(ctx, seen.Tenant, seen.ID)
			if errors.Is(err, fault.NotFound) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read connection: %w", err)
			}
			if over, err := isOver(c, now); over || err != nil {
				return err
			}
			c = now
		}
		isAgain = true
		return try(c)
	})
}

// movedOn reports whether the connection has been reconnected, revoked or disconnected since it was read. After any of
// these changes, results obtained with the earlier tokens no longer apply.
func movedOn(seen, c connection.Connection) bool {
	return c.Status != seen.Status || c.Generation != seen.Generation
}
