package disconnect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// remindAfter is the time after which the scheduler queues a requested disconnection again. The delay exceeds the
// duration of a gradual rollout, because the previous release's worker can't finish a disconnection and skips rows that
// aren't due.
const remindAfter = 15 * time.Minute

// RequestStore stores the immediate changes of a disconnection request.
type RequestStore interface {
	Reader
	// RequestEnd stores the ending and the audit row that follows head in one transaction. The ending has no tokens. It
	// returns fault.Conflict if any row on which the ending or the audit row is based has changed.
	RequestEnd(ctx context.Context, e Ending, head audit.Head, row audit.Row) error
}

// Chain returns the next audit row for an organisation. audit.Log implements it.
type Chain interface {
	Next(ctx context.Context, row audit.Row) (audit.Head, audit.Row, error)
}

// Requester disconnects connections for functions that browsers can reach, and has no access to tokens or cached
// records. The refresh worker completes the disconnection.
type Requester struct {
	Store    RequestStore
	Audit    Chain
	Enqueuer Enqueuer                   // for queueing events
	Worker   refresh.ConnectionEnqueuer // for queueing connections
	NewID    ids.Source
	Now      func() time.Time
}

// Disconnect ends a connection for its organisation and returns the connection's new state. The connection is revoked,
// so neither a refresh nor a new export can use its tokens. Any pending export fails, and the connection's files
// expire. The audit row is stored in the same transaction. The refresh worker deletes tokens and cached records and
// asks the health system to revoke the tokens. If the connection has already ended, Disconnect only ends the exports.
// Disconnect returns fault.NotFound if the connection does not exist and fault.Conflict if every attempt conflicts with
// a concurrent change.
func (r Requester) Disconnect(ctx context.Context, tenant org.Tenant, id, actor string) (connection.Connection, error) {
	var ended connection.Connection
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		ended, err = r.request(ctx, tenant, id, actor)
		return err
	})
	if err == nil && !ended.Refresh.UpstreamUntil.IsZero() {
		_ = r.Worker.EnqueueConnection(ctx, tenant, id) // Even if the queue message is lost, the row becomes due.
	}
	return ended, err
}

func (r Requester) request(ctx context.Context, tenant org.Tenant, id, actor string) (connection.Connection, error) {
	c, err := r.Store.Connection(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return connection.Connection{}, connection.Missing()
	}
	if err != nil {
		return connection.Connection{}, fmt.Errorf("read connection: %w", err)
	}
	now := r.Now()
	found, err := findExports(ctx, r.Store, tenant, id, now)
	isEnding := c.Status == connection.Authorized
	if err != nil || !isEnding && found.none() {
		return c, err
	}
	end := Ending{Connection: c}
	if isEnding {
		end.Connection.Status = connection.Revoked
		end.Connection.Refresh = connection.RefreshState{
			Ended: connection.Disconnected, EndedAt: now, RefreshAt: now.Add(remindAfter), UpstreamUntil: now.Add(keepUpstream),
		}
	}
	if err = found.end(ctx, r.Store, &end, r.Now); err != nil {
		return connection.Connection{}, err
	}
	head, row, err := r.Audit.Next(ctx, audit.Row{
		At: now, ID: r.NewID(), Tenant: tenant, Actor: actor, Action: "connection.disconnected", Target: id,
	})
	if err != nil {
		return connection.Connection{}, fmt.Errorf("make audit row: %w", err)
	}
	if err = r.Store.RequestEnd(ctx, end, head, row); err != nil {
		return connection.Connection{}, fmt.Errorf("request the end of the connection: %w", err)
	}
	if isEnding {
		logx.Measure(ctx, metric.Count(metric.Revocations, connection.Disconnected))
	}
	if end.Failed.ID != "" {
		_ = r.Enqueuer.EnqueueEvent(ctx, tenant, end.Event.ID)
	}
	return end.Connection, nil
}
