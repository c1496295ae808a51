// Package disconnect owns how an organisation gives a connection up: what ends with it, in which
// order, and what is kept for how long so that the health system can be asked to revoke the tokens. That asking is
// package refresh's, and deleting the objects of files whose time is over the sweeper's. It knows no HTTP and no AWS.
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

// keepUpstream is how long a token is kept for the revocation at the health system (docs/develop/lifecycles.md, "The life
// of a connection").
const keepUpstream = 24 * time.Hour

// Reader reads what ends with a connection, and ends the time of its files. Reads are consistent.
type Reader interface {
	// Connection reads a connection; fault.NotFound.
	Connection(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error)
	// LatestTask returns the id of the connection's newest task; fault.NotFound when there was none.
	LatestTask(ctx context.Context, tenant org.Tenant, connectionID string) (string, error)
	// Task reads a task; fault.NotFound.
	Task(ctx context.Context, tenant org.Tenant, id string) (export.Task, error)
	// EndFile ends the time of a finished task's file at now, so that it is due for deletion; fault.Conflict when that
	// time is over already.
	EndFile(ctx context.Context, task export.Task, now time.Time) error
}

// Store keeps what ends together.
type Store interface {
	Reader
	// Tokens reads a token set; fault.NotFound when the connection holds none.
	Tokens(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error)
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
	// DeleteUntil removes what is cached of a connection's authorisations up to a generation; it may be repeated.
	DeleteUntil(ctx context.Context, tenant org.Tenant, connectionID string, generation int64) error
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
// system is asked to revoke, a pending export has failed, and the time of its files is over. The files and cached
// records end first and the status changes last, so that a connection which was given up has none of them left,
// whatever crashed; doing it again finishes the rest. Of one that a Requester has ended, tokens and cached records go;
// another that ended earlier stays as it is, and only its exports end.
//
// It sends no patient.authorization_revoked: that event tells an organisation what it could not know,
// and here it asked itself. Errors: fault.NotFound, fault.Conflict when others kept changing the connection.
func (d Disconnector) Disconnect(ctx context.Context, tenant org.Tenant, id string) (connection.Connection, error) {
	return d.persist(ctx, tenant, id, false)
}

// Finish does the rest of a disconnection that a Requester has begun. It leaves a connection alone that is authorized:
// its patient has come back. Errors are those of Disconnect.
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
	if isRest { // its exports have ended with the request, and none has begun since
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

// revoke removes what is cached of the connection, makes it a disconnected one, and seals what is left to do upstream.
// It reports whether that changes the connection: one that is disconnected stays as it is once it holds no tokens.
func (d Disconnector) revoke(ctx context.Context, end *Ending, now time.Time) (isChange bool, err error) {
	c := &end.Connection
	isRequested := c.Status != connection.Authorized
	if c.PlatformType == connection.TEFCAPlatform {
		if isRequested { // its patient may be coming back at this moment
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
