package refresh

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
)

const (
	// Limits for the surge guard. The guard applies if at least surgeFrom refreshes at a token endpoint received
	// responses within the window and more than one in surgeShare was refused. Because an endpoint fault is more likely
	// than so many withdrawn consents, a refusal counts only if it recurs an hour later.
	surgeWindow = 15 * time.Minute
	surgeFrom   = 50
	surgeShare  = 5
	secondAfter = time.Hour
)

// handleRefusal either revokes the connection or waits for a second refusal.
func (w Worker) handleRefusal(ctx context.Context, seen connection.Connection, refusal *tokens.RefusalError) error {
	return w.endOnConflict(ctx, seen, func(c connection.Connection) error {
		now, first := w.now(), firstRefusal(c, refusal)
		switch {
		case first.IsZero() && w.surges(ctx, refusal.TokenEndpoint):
			return w.awaitSecond(ctx, c, refusal, now)
		case !first.IsZero() && now.Sub(first) < secondAfter:
			return w.awaitSecond(ctx, c, refusal, first)
		}
		return w.revoke(ctx, c, string(refusal.Cause), refusal.Version)
	})
}

// endOnConflict calls end with the connection as it was read. After each conflict, it calls end again with the stored
// connection if that connection's authorisation and tokens are unchanged.
func (w Worker) endOnConflict(
	ctx context.Context, seen connection.Connection, end func(connection.Connection) error,
) error {
	return w.onConflict(ctx, seen, func(before, now connection.Connection) (bool, error) {
		if now.Rev != before.Rev || movedOn(seen, now) || !now.Refresh.RefreshAt.Equal(seen.Refresh.RefreshAt) {
			return now.Rev == before.Rev || movedOn(seen, now), nil
		}
		// The tokens have changed, but the connection has not.
		return true, w.postpone(ctx, now, "others_at_work", w.now().Add(retryBusyAfter))
	}, end)
}

// firstRefusal returns the time at which the same token set was first refused, or zero if the set was never refused.
func firstRefusal(c connection.Connection, refusal *tokens.RefusalError) time.Time {
	if c.Refresh.RefusedVersion != refusal.Version {
		return time.Time{}
	}
	return c.Refresh.RefusedAt
}

// awaitSecond leaves the connection authorized until a second refusal can count, which requires a minimum time since
// the first refusal.
func (w Worker) awaitSecond(ctx context.Context, seen connection.Connection, refusal *tokens.RefusalError,
	since time.Time,
) error {
	logOutcome(ctx, "refusal_held")
	logx.Add(ctx, slog.String("result", "put_off"))
	return w.amend(ctx, seen, news, func(c *connection.Connection) {
		if firstRefusal(*c, refusal).IsZero() {
			c.Refresh.RefusedAt, c.Refresh.RefusedVersion = since, refusal.Version
		}
		c.Refresh.RefreshAt = c.Refresh.RefusedAt.Add(secondAfter + spread(c.ID, crowdSpread))
	})
}

// surges reports whether a first refusal by the token endpoint should be distrusted, as it should be if the counts
// can't be read.
func (w Worker) surges(ctx context.Context, endpoint string) bool {
	answered, refused, err := w.state.Counts(ctx, EndpointName(endpoint), w.now().Add(-surgeWindow))
	return err != nil || answered >= surgeFrom && refused*surgeShare > answered
}

// End returns the connection as revoked at the given time for the given cause, and the event that reports the
// revocation.
func End(c connection.Connection, cause string, at time.Time) (connection.Connection, webhook.Event, error) {
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: cause, EndedAt: at}
	event, err := webhook.NewEvent(c.Tenant, webhook.AuthorizationEnded, c.ID, c.Generation, at,
		webhook.AuthorizationRevoked{
			OrgConnectionID: c.ID, EndpointID: c.EndpointID, PortalID: c.PortalID, BrandID: c.BrandID,
			PlatformType: c.PlatformType, ConnectionStatus: string(c.Status),
		})
	return c, event, err
}

// revoke ends a connection whose tokens have the given version, and notifies the organisation once, in a single
// transaction. It returns fault.Conflict if the connection or its tokens have changed, because the cause may no longer
// apply. revoke deletes cached records first, so that an ended connection never has cached records.
func (w Worker) revoke(ctx context.Context, c connection.Connection, cause string, version int64) error {
	if c.PlatformType == connection.TEFCAPlatform {
		if err := w.records.DeleteUntil(ctx, c.Tenant, c.ID, c.Generation); err != nil {
			return fmt.Errorf("end cached records: %w", err)
		}
	}
	c, event, err := End(c, cause, w.now())
	if err != nil {
		return err
	}
	if err := w.store.RevokeConnection(ctx, c, version, event); err != nil {
		return fmt.Errorf("revoke connection: %w", err)
	}
	logOutcome(ctx, "revoked")
	logx.Add(ctx, logx.Failed(), slog.String("ended", cause))
	logx.Measure(ctx, metric.Count(metric.Revocations, cause))
	_ = w.enqueuer.EnqueueEvent(ctx, event.Tenant, event.ID)
	return nil
}
