package refresh

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/words/org"
)

// Prompt makes the tokens of a connection due, and has the worker look at them at once instead of at the scheduler's
// next run. An export asks for that when it meets a refusal: it decides nothing itself. It implements worker.Refreshes.
type Prompt struct {
	Rows     Rows
	Enqueuer ConnectionEnqueuer
}

// Rows makes connections due (store.Connections).
type Rows interface {
	// RefreshDue makes the tokens of an authorized connection due at now; fault.Conflict when it is not authorized.
	RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error
}

// ConnectionEnqueuer tells the refresh worker to look at a connection (queue.Queue). A lost message is made
// up for by the scheduler.
type ConnectionEnqueuer interface {
	EnqueueConnection(ctx context.Context, tenant org.Tenant, connectionID string) error
}

// RefreshDue implements worker.Refreshes. Errors are those of Rows.
func (p Prompt) RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error {
	if err := p.Rows.RefreshDue(ctx, tenant, connectionID, now); err != nil {
		return fmt.Errorf("make connection due: %w", err)
	}
	_ = p.Enqueuer.EnqueueConnection(ctx, tenant, connectionID) // the row is due, whatever becomes of the message
	return nil
}
