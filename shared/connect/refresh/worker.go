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
	// lookAgain is the wait while another worker has the tokens.
	lookAgain = 2 * time.Minute
	// newConsent is by how much the end of consent has to move to be another one: ends that are told as a period, such
	// as expires_in, move by moments.
	newConsent = 24 * time.Hour
	// sameEnd is by how much an end that stays where it is may seem to move.
	sameEnd = 5 * time.Minute
)

// Opener decrypts what a Store keeps sealed (kms.Sealer).
type Opener interface {
	Open(ctx context.Context, tenant org.Tenant, boundTo string, sealed []byte) ([]byte, error)
}

// Enqueuer tells the webhook worker to look at an event. A lost message is made up for by the sweeper.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Worker acts on connections that are due. Its method is safe to repeat: a duplicate, late or forged call finds nothing
// due and changes nothing.
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

// Ender finishes disconnections that were requested: tokens then are gone but for what is kept for the revocation
// upstream. It leaves authorized connections alone, and may be repeated (disconnect.Disconnector).
type Ender interface {
	Finish(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
}

// NewWorker makes a Worker; all of it is needed. opener opens what is sealed under UpstreamPurpose.
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

// Look does the one thing that a connection is due for, if any: a try to take its tokens back upstream, a refresh, or
// the warning that consent is about to end. A requested disconnection is finished whenever it is looked at. The
// connection is saved in any case, so that the due index, which the scheduler has moved ahead, says again when it is
// next due. The error is our own fault, and the call can be repeated.
func (w Worker) Look(ctx context.Context, tenant org.Tenant, connectionID string) error {
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
		return w.takeBack(ctx, c)
	case reached(c.WarnAt(), now):
		return w.warn(ctx, c)
	}
	return w.putBack(ctx, c)
}

// putBack saves a connection that is due for nothing as it is.
func (w Worker) putBack(ctx context.Context, c connection.Connection) error {
	if err := w.store.SaveConnection(ctx, c); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("put connection back: %w", err)
	}
	return nil
}

func reached(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// refresh uses the refresh token and keeps what came of it.
func (w Worker) refresh(ctx context.Context, seen connection.Connection) error {
	renewed, err := w.tokens.Refresh(ctx, seen.Tenant, seen.ID)
	// What has happened is kept also when the function's time is over; not to know it costs another refresh.
	ctx = context.WithoutCancel(ctx)
	now := w.now()
	refusal, isRefused := errors.AsType[*tokens.RefusalError](err)
	busy, isBusy := errors.AsType[*BusyError](err)
	last, isLast := errors.AsType[*tokens.UnrenewableError](err)
	switch {
	case err == nil:
		tell(ctx, "renewed")
		return w.amend(ctx, seen, news, func(c *connection.Connection) { renew(c, renewed.Set, now) })
	case isRefused:
		logx.Add(ctx, logx.Spot(fault.SpotOf(err))...)
		return w.handleRefusal(ctx, seen, refusal)
	case isBusy:
		return w.postpone(ctx, seen, "busy", busy.RetryAt.Add(spread(seen.ID, crowdSpread)))
	case isLast:
		return w.outlast(ctx, seen, last)
	case errors.Is(err, fault.NotFound):
		return w.postpone(ctx, seen, "nothing_to_renew", time.Time{})
	case errors.Is(err, fault.Conflict):
		return w.postpone(ctx, seen, "others_at_work", now.Add(lookAgain))
	}
	return w.recordFailure(ctx, seen, err)
}

// tell puts on the log line what came of a refresh, and counts it.
func tell(ctx context.Context, outcome string) {
	logx.Add(ctx, slog.String("refresh", outcome))
	logx.Measure(ctx, metric.Count(metric.Refreshes, outcome))
}

// renew notes that the tokens were refreshed at now. A set that does not say something leaves it as it was.
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

// outlast waits for the end of an access token that nothing follows, and then ends the connection. That is no judgement
// of the token endpoint, so the surge guard has no part in it: our own clock says it.
func (w Worker) outlast(ctx context.Context, seen connection.Connection, last *tokens.UnrenewableError) error {
	if w.now().Before(last.ExpiresAt) {
		tell(ctx, "nothing_to_renew")
		return w.amend(ctx, seen, noNews, func(c *connection.Connection) { *c = c.EndingAt(last.ExpiresAt) })
	}
	return w.endOnConflict(ctx, seen, func(c connection.Connection) error {
		return w.revoke(ctx, c, connection.AccessEnded, last.Version)
	})
}

// postpone makes the connection due at another time, or never, for a reason that is no failure.
func (w Worker) postpone(ctx context.Context, seen connection.Connection, why string, until time.Time) error {
	tell(ctx, why)
	return w.amend(ctx, seen, noNews, func(c *connection.Connection) { c.Refresh.RefreshAt = until })
}

// recordFailure keeps a failure that says nothing about the consent, however often it comes.
func (w Worker) recordFailure(ctx context.Context, seen connection.Connection, cause error) error {
	now := w.now()
	tell(ctx, "failed")
	logx.Add(ctx, logx.Failed(), slog.Any("cause", cause), slog.Int("setbacks", seen.Refresh.Failures+1))
	logx.Add(ctx, logx.Spot(fault.SpotOf(cause))...)
	if answer, ok := errors.AsType[answered](cause); ok {
		logx.Add(ctx, slog.Any("answer", answer))
	}
	return w.amend(ctx, seen, noNews, func(c *connection.Connection) {
		c.Refresh.Failures++
		c.Refresh.FailureClass = classOf(fault.SpotOf(cause))
		c.Refresh.RefreshAt = now.Add(backOff(c.ID, c.Refresh.Failures, askedWait(cause)))
		logx.Add(ctx, slog.Time("next_at", c.Refresh.RefreshAt))
	})
}

// classOf is what is kept of a failure: its class, or which part of a row could not be read.
func classOf(at fault.Spot) string {
	if at.Row != "" {
		return at.Row + "." + at.Attribute
	}
	return at.Class
}

// answered is a failure with an answer of the token endpoint, of which it tells the log class and status, but no text
// (smart.OAuthError).
type answered interface {
	error
	slog.LogValuer
}

// Whether a change tells something that others who changed the connection meanwhile cannot know.
const (
	news   = true
	noNews = false
)

// amend changes the connection as it was seen, and else as others have left it, provided that it is still the same
// authorisation in the same state. A change without news yields to anybody who has set another time meanwhile.
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

// onConflict calls try with the connection as it was seen and, after each conflict, as it is stored by then. It stops
// without an error if the connection is gone, and when isOver says so, which gets the connection before and after the
// conflict.
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

// movedOn reports whether the connection was reconnected, revoked or disconnected since it was seen. What was found out
// about its tokens then says nothing about those that it has now.
func movedOn(seen, c connection.Connection) bool {
	return c.Status != seen.Status || c.Generation != seen.Generation
}
