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
	// responses within surgeWindow and more than one in surgeShare of them was refused. During a surge of refusals, a
	// refusal counts only if it recurs an hour later, because an endpoint fault is more likely than a wave of withdrawn
	// consents.
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

// endOnConflict calls end with the connection that was read. After each conflict, it retries end with the stored
// connection, provided that its authorisation and tokens are unchanged.
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

// firstRefusal returns the time of the refused token set's first recorded refusal, or zero if none is recorded.
func firstRefusal(c connection.Connection, refusal *tokens.RefusalError) time.Time {
	if c.Refresh.RefusedVersion != refusal.Version {
		return time.Time{}
	}
	return c.Refresh.RefusedAt
}

// awaitSecond keeps the connection authorized until a second refusal, which counts only after a minimum time since the
// first.
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

// surges reports whether a token endpoint's first refusal should be distrusted because refusals are surging. It returns
// true if the counts can't be read.
func (w Worker) surges(ctx context.Context, endpoint string) bool {
	answered, refused, err := w.state.Counts(ctx, EndpointName(endpoint), w.now().Add(-surgeWindow))
	return err != nil || answered >= surgeFrom && refused*surgeShare > answered
}

// End returns c, revoked at the given time for the given cause, and the event that reports the revocation.
func End(c connection.Connection, cause string, at time.Time) (connection.Connection, webhook.Event, error) {
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: cause, EndedAt: at}
	event, err := webhook.NewEvent(c.Tenant, webhook.AuthorizationEnded, c.ID, c.Generation, at,
		webhook.AuthorizationRevoked{
			OrgConnectionID: c.ID, EndpointID: c.EndpointID, PortalID: c.PortalID, BrandID: c.BrandID,
			PlatformType: c.PlatformType, ConnectionStatus: string(c.Status),
		})
	return c, event, err
}

// revoke ends a connection and notifies the organisation once, in a single transaction. It returns fault.Conflict if
// the connection or its token version has changed, because the cause may no longer apply. revoke deletes cached records
// first, so that an ended connection never has any.
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
