// Package refreshworker handles messages from the refresh queue. Each message identifies a connection. If the
// connection is due, the worker refreshes its tokens or revokes them at the portal. Duplicate, late and forged messages
// have no effect, because no tokens are due for their connections.
package refreshworker

import (
	"context"
	"fmt"
	"sync"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Connections refreshes and revokes tokens; refresh.Worker implements it.
type Connections interface {
	Process(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the message handler. The handler processes a batch's messages about each connection sequentially, so that
// each message sees the previous one's result. A lease on the tokens prevents conflicts between processes that handle
// the same connection.
func New(connections Connections) func(context.Context, due.Item) error {
	inHand := &turns{taken: map[due.Item]chan struct{}{}}
	return func(ctx context.Context, i due.Item) error {
		logx.Add(ctx, i.LogAttrs()...)
		if i.Kind != due.Connection {
			return nil // a message sent manually to the wrong queue; the scheduler for its kind will resend it
		}
		leave, err := inHand.enter(ctx, i)
		if err != nil {
			return err
		}
		defer leave()
		return connections.Process(ctx, i.Tenant, i.ID)
	}
}

// turns serialises work on each connection.
type turns struct {
	mu    sync.Mutex
	taken map[due.Item]chan struct{} // closed when the work on the item has finished
}

// enter waits until no other message about work item i is being processed. If ctx ends first, enter returns an error.
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
