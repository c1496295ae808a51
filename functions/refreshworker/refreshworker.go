// Package refreshworker handles the messages of the refresh queue. Each one names a connection whose tokens the worker
// refreshes, or revokes upstream, if that is due. Duplicate, late and forged messages find nothing due and change
// nothing.
package refreshworker

import (
	"context"
	"fmt"
	"sync"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Connections refreshes and revokes connections' tokens (refresh.Worker).
type Connections interface {
	Process(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the message handler. Messages about the same connection, of which a batch can hold several, are processed
// in turn, so that each sees the previous one's result. Across processes, the lease on the tokens separates them.
func New(connections Connections) func(context.Context, due.Item) error {
	inHand := &turns{taken: map[due.Item]chan struct{}{}}
	return func(ctx context.Context, i due.Item) error {
		logx.Add(ctx, i.LogAttrs()...)
		if i.Kind != due.Connection {
			return nil // sent to the wrong queue by hand; its own scheduler re-sends it
		}
		leave, err := inHand.enter(ctx, i)
		if err != nil {
			return err
		}
		defer leave()
		return connections.Process(ctx, i.Tenant, i.ID)
	}
}

// turns serialises the work on a connection.
type turns struct {
	mu    sync.Mutex
	taken map[due.Item]chan struct{} // closed when the item is free again
}

// enter waits for the item to be free. It returns an error if ctx ends first.
func (t *turns) enter(ctx context.Context, i due.Item) (leave func(), err error) {
	for {
		t.mu.Lock()
		other, busy := t.taken[i]
		if !busy {
			own := make(chan struct{})
			t.taken[i] = own
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.taken, i)
				close(own)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another look: %w", ctx.Err())
		}
	}
}
