// Package disconnect disconnects a connection at its organisation's request. The package defines what ends with a
// connection, in which order, and how long a token is stored for revocation at the health system. Package refresh
// revokes the tokens at the health system. The sweeper deletes the objects of expired files.
package disconnect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/metric"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/retry"
)

// keepUpstream is the time for which a token is stored for revocation at the health system (docs/develop/lifecycles.md,
// "The life of a connection").
const keepUpstream = 24 * time.Hour

// Reader reads the rows that change when a connection ends, and expires its files. All reads are consistent.
type Reader interface {
	// Connection reads a connection. It returns fault.NotFound if the connection does not exist.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
	// LatestTask returns the ID of the connection's latest task. It returns fault.NotFound if the connection has no
	// tasks.
	LatestTask(ctx context.Context, tenant org.Tenant, connectionID string) (string, error)
	// Task reads an export task. It returns fault.NotFound if the task does not exist.
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	// EndFile makes a finished task's file expire now, so that it is due for deletion. It returns fault.Conflict if the
	// file has already expired.
	EndFile(ctx context.Context, task export.Task, now time.Time) error
}

// Store stores the changes that end a connection.
type Store interface {
	Reader
	// Tokens reads the token set of a connection. It returns fault.NotFound if the connection has no tokens.
	Tokens(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error)
	// EndConnection stores the ending in one transaction. It returns fault.Conflict if any row on which the ending is
	// based has changed.
	EndConnection(ctx context.Context, e Ending) error
}

// Ending holds the changes that a disconnection makes in one transaction.
type Ending struct {
	Connection connection.Connection // new state; Rev is the revision of the old state
	LatestTask string                // ID of the connection's latest task when it was read; empty if there is none
	Tokens     tokens.Row            // token set that ends with the connection; Sealed is empty if there is none
	Upstream   []byte                // sealed tokens for upstream revocation; may be empty
	Failed     export.Task           // task that was pending; ID is empty if there was none
	Event      webhook.Event         // event that reports the task's failure
}

// Enqueuer queues events for the webhook worker. If the queue message is lost, the sweeper sends the event later.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Records deletes the cached records of TEFCA connections. records.Ender implements it.
type Records interface {
	// DeleteAll deletes all cached records of a connection. It is idempotent.
	DeleteAll(ctx context.Context, tenant org.Tenant, connectionID string) error
	// DeleteUntil deletes the cached records of a connection's authorisations up to the given generation. It is
	// idempotent.
	DeleteUntil(ctx context.Context, tenant org.Tenant, connectionID string, generation int64) error
}

// Disconnector disconnects connections and handles their tokens and cached records.
type Disconnector struct {
	Store    Store
	Vault    tokens.Vault
	Sealer   tokens.Sealer // seals for refresh.UpstreamPurpose
	Records  Records
	Enqueuer Enqueuer
	Now      func() time.Time
}

// Disconnect ends a connection and returns its new state. It revokes the connection, fails a pending export, expires
// the connection's files, and deletes its tokens, except those that the health system has yet to revoke. Files expire
// and cached records are deleted before the status changes, so a disconnected connection never has files or cached
// records, even after a crash. A repeated call completes an interrupted disconnection. If a Requester has ended the
// connection, Disconnect deletes its tokens and cached records. If the connection ended for another reason, Disconnect
// only ends its exports.
//
// Disconnect does not emit a patient.authorization_revoked event, because the organisation itself made the request. It
// returns fault.NotFound if the connection does not exist and fault.Conflict if every attempt conflicts with a
// concurrent change.
func (d Disconnector) Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	return d.persist(ctx, tenant, id, false)
}

// Finish completes a disconnection that a Requester has begun. An authorized connection is left unchanged, because the
// patient has reconnected in the meantime. It returns the same errors as Disconnect.
func (d Disconnector) Finish(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	return d.persist(ctx, tenant, id, true)
}

func (d Disconnector) persist(ctx context.Context, tenant org.Tenant, id string,
	isRest bool,
) (connection.Connection, error) {
	var ended connection.Connection
	err := retry.OnConflict(ctx, retry.Tries, func() (err error) {
		ended, err = d.disconnect(ctx, tenant, id, isRest)
		return err
	})
	return ended, err
}

func (d Disconnector) disconnect(ctx context.Context, tenant org.Tenant, id string,
	isRest bool,
) (connection.Connection, error) {
	c, err := d.Store.Connection(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return connection.Connection{}, connection.Missing()
	}
	if err != nil {
		return connection.Connection{}, fmt.Errorf("read connection: %w", err)
	}
	if isRest && c.Status == connection.Authorized {
		return c, nil
	}
	end, now := Ending{Connection: c}, d.Now()
	isEnding := c.Status == connection.Authorized
	if isEnding || c.Refresh.Ended == connection.Disconnected {
		if isEnding, err = d.revoke(ctx, &end, now); err != nil {
			return connection.Connection{}, err
		}
	}
	var found exports
	if isRest { // The exports ended when the disconnection was requested, and none has begun since.
		found.latest, err = newestTask(ctx, d.Store, tenant, id)
	} else {
		found, err = findExports(ctx, d.Store, tenant, id, now)
	}
	if err != nil {
		return connection.Connection{}, err
	}
	if !isEnding && found.none() {
		return c, nil
	}
	if err = found.end(ctx, d.Store, &end, d.Now); err != nil {
		return connection.Connection{}, err
	}
	if err := d.Store.EndConnection(ctx, end); err != nil {
		return connection.Connection{}, fmt.Errorf("end connection: %w", err)
	}
	if c.Status == connection.Authorized {
		logx.Measure(ctx, metric.Count(metric.Revocations, connection.Disconnected))
	}
	if end.Failed.ID != "" {
		_ = d.Enqueuer.EnqueueEvent(ctx, tenant, end.Event.ID)
	}
	return end.Connection, nil
}

// revoke deletes the connection's cached records, marks the connection as disconnected, and seals the tokens for
// upstream revocation. It reports whether it changed the connection. A disconnected connection without tokens is left
// unchanged.
func (d Disconnector) revoke(ctx context.Context, end *Ending, now time.Time) (isChange bool, err error) {
	c := &end.Connection
	isRequested := c.Status != connection.Authorized
	if c.PlatformType == connection.TEFCAPlatform {
		if isRequested { // The patient may be reconnecting at the same time.
			err = d.Records.DeleteUntil(ctx, c.Tenant, c.ID, c.Generation)
		} else {
			err = d.Records.DeleteAll(ctx, c.Tenant, c.ID)
		}
		if err != nil {
			return false, fmt.Errorf("end cached records: %w", err)
		}
	}
	row, err := d.Store.Tokens(ctx, c.Tenant, c.ID)
	isNone := errors.Is(err, fault.NotFound)
	if err != nil && !isNone {
		return false, fmt.Errorf("read tokens: %w", err)
	}
	if isRequested && isNone {
		return false, nil
	}
	isLate := isRequested && !now.Before(c.Refresh.EndedAt.Add(keepUpstream))
	endedAt := now
	if isRequested {
		endedAt = c.Refresh.EndedAt
	}
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: connection.Disconnected, EndedAt: endedAt}
	end.Tokens = row
	if isNone || isLate {
		return true, nil
	}
	set, err := d.Vault.Open(ctx, row)
	if err != nil || set.RevocationEndpoint == "" {
		return true, err
	}
	end.Upstream, err = d.Sealer.Seal(ctx, c.Tenant, refresh.UpstreamBinding(c.Tenant, c.ID), refresh.EncodeUpstream(set))
	if err != nil {
		return false, fmt.Errorf("seal what is to be revoked: %w", err)
	}
	c.Refresh.RefreshAt, c.Refresh.UpstreamUntil = now, now.Add(keepUpstream)
	return true, nil
}
