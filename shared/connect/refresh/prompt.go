package refresh

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/words/org"
)

// Prompt makes a connection's tokens due and has the worker process them at once instead of at the scheduler's next
// run. An export requests that when it meets a refusal, and decides nothing itself. Prompt implements worker.Refreshes.
type Prompt struct {
	Rows     Rows
	Enqueuer ConnectionEnqueuer
}

// Rows makes connections due (store.Connections).
type Rows interface {
	// RefreshDue makes the tokens of an authorized connection due at now; fault.Conflict if it is not authorized.
	RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error
}

// ConnectionEnqueuer asks the refresh worker to process a connection (queue.Queue). The scheduler makes up for a lost
// message.
type ConnectionEnqueuer interface {
	EnqueueConnection(ctx context.Context, tenant org.Tenant, connectionID string) error
}

// RefreshDue implements worker.Refreshes. It returns the errors of Rows.
func (p Prompt) RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error {
	if err := p.Rows.RefreshDue(ctx, tenant, connectionID, now); err != nil {
		return fmt.Errorf("make connection due: %w", err)
	}
	_ = p.Enqueuer.EnqueueConnection(ctx, tenant, connectionID) // the row is due even if the message is lost
	return nil
}
