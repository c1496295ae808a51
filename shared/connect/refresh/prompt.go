package refresh

import (
	"context"
	"fmt"
	"time"

	"recordbridge/shared/words/org"
)

// Prompt marks a connection's tokens as due and queues the connection, so the worker processes it before the
// scheduler's next run. After a refusal, an export uses Prompt and leaves the decision to the worker. Prompt implements
// worker.Refreshes.
type Prompt struct {
	Rows     Rows
	Enqueuer ConnectionEnqueuer
}

// Rows marks connections as due for processing. store.Connections implements it.
type Rows interface {
	// RefreshDue marks the tokens of an authorized connection as due at now. It returns fault.Conflict if the
	// connection is not authorized.
	RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error
}

// ConnectionEnqueuer queues connections for the refresh worker (queue.Queue). If a message is lost, the scheduler
// queues the connection again.
type ConnectionEnqueuer interface {
	EnqueueConnection(ctx context.Context, tenant org.Tenant, connectionID string) error
}

// RefreshDue implements worker.Refreshes. It returns any error from Rows.RefreshDue.
func (p Prompt) RefreshDue(ctx context.Context, tenant org.Tenant, connectionID string, now time.Time) error {
	if err := p.Rows.RefreshDue(ctx, tenant, connectionID, now); err != nil {
		return fmt.Errorf("make connection due: %w", err)
	}
	_ = p.Enqueuer.EnqueueConnection(ctx, tenant, connectionID) // the row is due even if the message is lost
	return nil
}
