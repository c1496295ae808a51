// Package disconnect owns how an organisation gives a connection up: what ends with it, in which
// order, and what is kept for how long so that the health system can be asked to revoke the tokens. That asking is
// package refresh's, and deleting the objects of files whose time is over the sweeper's. It knows no HTTP and no AWS.
package disconnect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/fault"
	"recordbridge/shared/logx"
	"recordbridge/shared/metric"
	"recordbridge/shared/org"
	"recordbridge/shared/refresh"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tokens"
	"recordbridge/shared/webhook"
)

const (
	// keepUpstream is how long a token is kept for the revocation at the health system (docs/architecture.md, "The life of a connection").
	keepUpstream = 24 * time.Hour
	// tries bounds the race with exports, refreshes and reconnects of the connection.
	tries = 6
)

// Store keeps what ends together. Reads are consistent.
type Store interface {
	// Connection reads a connection; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
	// Tokens reads a token set; fault.NotFound when the connection holds none.
	Tokens(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error)
	// LatestTask returns the id of the connection's newest task; fault.NotFound when there was none.
	LatestTask(ctx context.Context, tenant org.Tenant, connectionID string) (string, error)
	// Task reads a task; fault.NotFound.
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	// EndFile ends the time of a finished task's file at now, so that it is due for deletion; fault.Conflict when that
	// time is over already.
	EndFile(ctx context.Context, task export.Task, now time.Time) error
	// EndConnection stores the ending in one transaction; fault.Conflict when anything that it was made from has changed
	// since.
	EndConnection(ctx context.Context, e Ending) error
}

// Ending is what a disconnection changes at once.
type Ending struct {
	Connection connection.Connection // as it becomes; Rev is the revision that was read
	LatestTask string                // id of the newest task that was read, empty for none
	Tokens     tokens.Row            // the set that ends, without Sealed when there is none
	Upstream   []byte                // what is kept for the revocation upstream, sealed; empty for nothing
	Failed     export.Task           // was pending until now; without an id when none was
	Event      webhook.Event         // tells that it failed
}

// Enqueuer tells the webhook worker about an event. A lost message is made up for by the sweeper.
type Enqueuer interface {
	EnqueueEvent(ctx context.Context, tenant org.Tenant, eventID string) error
}

// Records removes what is cached of TEFCA connections' records (records.Ender).
type Records interface {
	// DeleteAll removes all that is cached of a connection; it may be repeated.
	DeleteAll(ctx context.Context, tenant org.Tenant, connectionID string) error
}

// Disconnector disconnects.
type Disconnector struct {
	Store    Store
	Vault    tokens.Vault
	Sealer   tokens.Sealer // of refresh.UpstreamPurpose
	Records  Records
	Enqueuer Enqueuer
	Now      func() time.Time
}

// Disconnect ends a connection and returns it as it is then: it is revoked, its tokens are gone but for what the health
// system is asked to revoke, a pending export has failed, and the time of its files is over. The files and cached records end
// first and the status changes last, so that a connection which was given up has none of them left, whatever crashed; doing it
// again finishes the rest. One that ended earlier stays as it is, and only its exports end.
//
// It sends no patient.authorization_revoked: that event tells an organisation what it could not know,
// and here it asked itself. Errors: fault.NotFound, fault.Conflict when others kept changing the connection.
func (d Disconnector) Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	var (
		ended connection.Connection
		err   error
	)
	for range tries {
		ended, err = d.disconnect(ctx, tenant, id)
		if !errors.Is(err, fault.Conflict) {
			break
		}
	}
	return ended, err
}

func (d Disconnector) disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	c, err := d.Store.Connection(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return connection.Connection{}, connection.Missing()
	}
	if err != nil {
		return connection.Connection{}, fmt.Errorf("read connection: %w", err)
	}
	end, now := Ending{Connection: c}, d.Now()
	if c.Status == connection.Authorized {
		if err = d.revoke(ctx, &end, now); err != nil {
			return connection.Connection{}, err
		}
	}
	found, err := d.exports(ctx, tenant, id, now)
	if err != nil {
		return connection.Connection{}, err
	}
	for _, task := range found.living {
		if err = d.Store.EndFile(ctx, task, now); err != nil {
			return connection.Connection{}, fmt.Errorf("end file: %w", err)
		}
	}
	if c.Status != connection.Authorized && found.none() {
		return c, nil
	}
	end.LatestTask = found.latest
	if found.pending.ID != "" {
		// The event has the time at which it is stored: a reader of the list of events does not look for older ones.
		if end.Failed, end.Event, err = found.pending.Fail(export.TokenRefreshFailure, d.Now()); err != nil {
			return connection.Connection{}, err
		}
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

// revoke removes what is cached of the connection, makes it a revoked one, and seals what is left to do upstream.
func (d Disconnector) revoke(ctx context.Context, end *Ending, now time.Time) error {
	c := &end.Connection
	if c.PlatformType == tefca.PlatformType {
		if err := d.Records.DeleteAll(ctx, c.Tenant, c.ID); err != nil {
			return fmt.Errorf("end cached records: %w", err)
		}
	}
	c.Status, c.Refresh = connection.Revoked, connection.RefreshState{Ended: connection.Disconnected, EndedAt: now}
	row, err := d.Store.Tokens(ctx, c.Tenant, c.ID)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	end.Tokens = row
	set, err := d.Vault.Open(ctx, row)
	if err != nil || set.RevocationEndpoint == "" {
		return err
	}
	end.Upstream, err = d.Sealer.Seal(ctx, c.Tenant, refresh.UpstreamBinding(c.Tenant, c.ID), refresh.EncodeUpstream(set))
	if err != nil {
		return fmt.Errorf("seal what is to be revoked: %w", err)
	}
	c.Refresh.RefreshAt, c.Refresh.UpstreamUntil = now, now.Add(keepUpstream)
	return nil
}
