// Package refreshworker takes the messages of the refresh queue: each tells it to look at a connection, whose tokens it
// refreshes, or takes back upstream, if that is due. Duplicate, late and forged messages find nothing that is due and
// change nothing.
package refreshworker

import (
	"context"
	"fmt"
	"sync"

	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/logx"
	"recordbridge/shared/words/org"
)

// Connections looks after connections (refresh.Worker).
type Connections interface {
	Look(ctx context.Context, tenant org.Tenant, id string) error
}

// New returns the handler of one message. Messages about the same connection, of which a batch can hold
// several, wait for one another: the second finds what the first has left. Between processes the lease of the
// tokens keeps them apart.
func New(connections Connections) func(context.Context, due.Item) error {
	inHand := &turns{taken: map[due.Item]chan struct{}{}}
	return func(ctx context.Context, i due.Item) error {
		logx.Add(ctx, i.LogAttrs()...)
		if i.Kind != due.Connection {
			return nil // sent to the wrong queue by hand; who is in charge of it knows where it belongs
		}
		leave, err := inHand.enter(ctx, i)
		if err != nil {
			return err
		}
		defer leave()
		return connections.Look(ctx, i.Tenant, i.ID)
	}
}

// turns lets one at a time look at a connection.
type turns struct {
	mu    sync.Mutex
	taken map[due.Item]chan struct{} // closed when it is free again
}

// enter waits for its turn. The error is that the time of the call is over.
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
