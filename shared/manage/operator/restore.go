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

// Restores puts token sets back that were lost. A refresh token that was used since the moment to which a table was
// restored is spent where the portal rotates them, and using it again may end all that the patient has granted (RFC
// 9700 section 4.14): such a set is not put back, and its connection ends, so that the organisation hears of it and
// the patient can reconnect.
type Restores struct {
	service     OrganisationReader
	connections ConnectionLister
	tasks       exportReader
	by          Journal
}

// NewRestores makes a Restores.
func NewRestores(service OrganisationReader, connections ConnectionLister, tasks ExportTasks, by Journal) Restores {
	return Restores{service: service, connections: connections, tasks: exportReader{tasks}, by: by}
}

// TokenRows are the tokens that there are, and those of the earlier moment (store.Restore).
type TokenRows interface {
	HasTokens(ctx context.Context, tenant org.Tenant, connectionID string) (bool, error)
	Restored(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error)
	PutBack(ctx context.Context, row tokens.Row) error
	// RefreshDue makes the tokens of an authorized connection due at now.
	RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error
	EndConnection(ctx context.Context, c connection.Connection, event webhook.Event) error
}

// Restored lists the outcome for a tenant's connections, by id.
type Restored struct {
	Kept     int      // have their tokens, or have ended: nothing is to be done
	Restored []string // have the tokens of the earlier moment
	Ended    []string // have to reconnect
}

// Tokens restores the token sets of a tenant's connections that have lost them, to what they were at a moment.
// Only with isMeant it changes anything. It can be repeated: what was put back or has ended is kept. An error
// leaves the rest as it was.
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

// restore deals with one connection.
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
	// Whoever looked meanwhile has found nothing to renew, and made the connection never due.
	if err := rows.RefreshDue(ctx, tenant, id, o.by.now()); err != nil && !errors.Is(err, fault.Conflict) {
		return fmt.Errorf("make tokens due: %w", err)
	}
	return o.by.record(ctx, tenant, "tokens.restored", id)
}

// unspent is the token set that a connection had at a moment; fault.NotFound when it had none, or may have used it
// since. It is marked as one of whose use nobody knows: should it be refused, the organisation hears that it was lost,
// not that the patient has ended it.
func (o Restores) unspent(ctx context.Context, rows TokenRows, c connection.Connection,
	moment time.Time,
) (tokens.Row, error) {
	spent := fault.Missing("The tokens in that backup may have been used since.")
	if isRenewed := !c.Refresh.RenewedAt.Before(moment); isRenewed || !c.CreatedAt.Before(moment) {
		return tokens.Row{}, spent
	}
	if c.Generation > 1 && c.Refresh.RenewedAt.IsZero() {
		return tokens.Row{}, spent // nobody knows when the patient has reconnected
	}
	exports, err := o.tasks.latest(ctx, c.Tenant, c.ID)
	if err != nil {
		return tokens.Row{}, err
	}
	for _, e := range exports { // each may have refreshed
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

// end ends a connection whose tokens are lost.
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
