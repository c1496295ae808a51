package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/connect/refresh"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Restores recovers lost token sets from an earlier state of a table. If a portal rotates refresh tokens, a refresh
// token used since the earlier state was saved is no longer valid (spent). Reusing a spent token may end all of the
// patient's grants (RFC 9700 section 4.14). Restores therefore ends connections whose tokens may be spent, so that the
// organisation is notified and the patient can reconnect.
type Restores struct {
	service     OrganisationReader
	connections ConnectionLister
	tasks       exportReader
	by          Journal
}

// NewRestores returns a Restores with the given dependencies.
func NewRestores(service OrganisationReader, connections ConnectionLister, tasks ExportTasks, by Journal) Restores {
	return Restores{service: service, connections: connections, tasks: exportReader{tasks}, by: by}
}

// TokenRows reads and writes current tokens, and reads tokens from the earlier state. store.Restore implements it.
type TokenRows interface {
	HasTokens(ctx context.Context, tenant org.Tenant, connectionID string) (bool, error)
	Restored(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error)
	PutBack(ctx context.Context, row tokens.Row) error
	// RefreshDue makes an authorized connection's tokens due for a refresh at time now.
	RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error
	EndConnection(ctx context.Context, c connection.Connection, event webhook.Event) error
}

// Restored reports the outcome of restoring a tenant's connections.
type Restored struct {
	Kept     int      // number of connections that still have tokens or have already ended
	Restored []string // IDs of connections whose tokens were restored
	Ended    []string // IDs of connections whose patients must reconnect
}

// Tokens restores the lost token sets of a tenant's connections to their state at moment. Unless isMeant is set, Tokens
// writes nothing. It is idempotent: it skips connections that were already restored or have ended. If it returns an
// error, the remaining connections are unchanged.
func (o Restores) Tokens(ctx context.Context, rows TokenRows, tenant org.Tenant, moment time.Time,
	isMeant bool,
) (Restored, error) {
	if _, err := findOrganisation(ctx, o.service, tenant); err != nil {
		return Restored{}, err
	}
	var done Restored
	for place, more := "", true; more; {
		var found []string
		var err error
		if found, more, err = o.connections.ConnectionsBefore(ctx, tenant, place, mostListed); err != nil {
			return done, fmt.Errorf("list connections: %w", err)
		}
		for _, place = range found {
			_, id, _ := strings.Cut(place, "#")
			if err := o.restore(ctx, rows, tenant, id, moment, isMeant, &done); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// restore restores a connection's tokens, or ends the connection if its tokens can't be restored.
func (o Restores) restore(
	ctx context.Context, rows TokenRows, tenant org.Tenant, id string, moment time.Time, isMeant bool, done *Restored,
) error {
	c, _, err := o.connections.InspectConnection(ctx, tenant, id)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read connection: %w", err)
	}
	has, err := rows.HasTokens(ctx, tenant, id)
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	if has || c.Status != connection.Authorized {
		done.Kept++
		return nil
	}
	row, err := o.unspent(ctx, rows, c, moment)
	if errors.Is(err, fault.NotFound) {
		done.Ended = append(done.Ended, id)
		if !isMeant {
			return nil
		}
		return o.end(ctx, rows, c)
	}
	if err != nil {
		return err
	}
	done.Restored = append(done.Restored, id)
	if !isMeant {
		return nil
	}
	if err := rows.PutBack(ctx, row); err != nil {
		return fmt.Errorf("put tokens back: %w", err)
	}
	// A worker that ran after the tokens were lost may have cleared the due time, because it found no tokens to
	// refresh.
	if err := rows.RefreshDue(ctx, tenant, id, o.by.now()); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("make tokens due: %w", err)
	}
	return o.by.record(ctx, tenant, "tokens.restored", id)
}

// unspent returns a connection's token set as of moment. It returns fault.NotFound if the connection had no tokens
// then, or if the tokens may have been used since. The returned set is marked as possibly used. If a portal refuses a
// token set that may have been used, the organisation is notified of a lost token rather than of withdrawn consent.
func (o Restores) unspent(ctx context.Context, rows TokenRows, c connection.Connection,
	moment time.Time,
) (tokens.Row, error) {
	spent := fault.Missing("The tokens in that backup may have been used since.")
	if isRenewed := !c.Refresh.RenewedAt.Before(moment); isRenewed || !c.CreatedAt.Before(moment) {
		return tokens.Row{}, spent
	}
	if c.Generation > 1 && c.Refresh.RenewedAt.IsZero() {
		return tokens.Row{}, spent // the time at which the patient reconnected is unknown
	}
	exports, err := o.tasks.latest(ctx, c.Tenant, c.ID)
	if err != nil {
		return tokens.Row{}, err
	}
	for _, e := range exports { // Each export may have refreshed the tokens.
		if e.Status == export.Pending || !e.FinishedAt.Before(moment) {
			return tokens.Row{}, spent
		}
	}
	row, err := rows.Restored(ctx, c.Tenant, c.ID)
	if err != nil {
		return tokens.Row{}, fmt.Errorf("read restored tokens: %w", err)
	}
	row.RefreshStartedAt = cmp.Or(row.RefreshStartedAt, moment)
	return row, nil
}

func (o Restores) end(ctx context.Context, rows TokenRows, c connection.Connection) error {
	ended, event, err := refresh.End(c, string(tokens.CauseRotationLost), o.by.now())
	if err != nil {
		return fmt.Errorf("end connection: %w", err)
	}
	if err := rows.EndConnection(ctx, ended, event); err != nil {
		return fmt.Errorf("end connection: %w", err)
	}
	return o.by.record(ctx, c.Tenant, "connection.tokens_lost", c.ID)
}
