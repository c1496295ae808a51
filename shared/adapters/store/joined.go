package store

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	// mostJoined is the maximum number of writes per transaction, which DynamoDB limits to 100.
	mostJoined = 100
	// longestJoin is the maximum time for which a transaction waits for the one in progress. Because of the limit, a
	// call that gets no response delays only its own writes.
	longestJoin = time.Second
)

// joined batches small transactions. Transactions that arrive while another one is in progress are combined into the
// next one to save calls. A transaction that arrives when none is in progress is written immediately. In a combined
// transaction, each part succeeds or fails by its own conditions. joined is safe for concurrent use.
type joined struct {
	db DB

	mu      sync.Mutex
	isBusy  bool
	waiting []*joining
}

// joining is a transaction waiting for the one in progress.
type joining struct {
	ctx    context.Context //nolint:containedctx // its caller waits
	writes []types.TransactWriteItem
	done   chan error
}

// transact writes all or none of the writes. It returns fault.Conflict if a condition fails.
func (j *joined) transact(ctx context.Context, writes ...types.TransactWriteItem) error {
	mine := j.wait(ctx, writes)
	if mine == nil {
		defer j.next()
		return transact(ctx, j.db, writes...)
	}
	late := time.NewTimer(longestJoin)
	defer late.Stop()
	select {
	case err := <-mine.done:
		return err
	case <-late.C:
	}
	if j.leave(mine) {
		return transact(ctx, j.db, writes...)
	}
	return <-mine.done
}

// wait queues a transaction behind the one in progress. If no transaction is in progress, wait returns nil and the
// caller must write its transaction immediately.
func (j *joined) wait(ctx context.Context, writes []types.TransactWriteItem) *joining {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.isBusy {
		j.isBusy = true
		return nil
	}
	mine := &joining{ctx: ctx, writes: writes, done: make(chan error, 1)}
	j.waiting = append(j.waiting, mine)
	return mine
}

// leave removes a transaction from the queue and reports whether it was still queued.
func (j *joined) leave(mine *joining) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, other := range j.waiting {
		if other == mine {
			j.waiting = append(j.waiting[:i:i], j.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// next starts a transaction that combines as many waiting transactions as fit.
func (j *joined) next() {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, writes := 0, []types.TransactWriteItem(nil)
	for n < len(j.waiting) && (n == 0 || len(writes)+len(j.waiting[n].writes) <= mostJoined) {
		writes = append(writes, j.waiting[n].writes...)
		n++
	}
	if j.isBusy = n > 0; !j.isBusy {
		return
	}
	group := j.waiting[:n:n]
	j.waiting = j.waiting[n:]
	go func() {
		defer j.next()
		j.together(group, writes)
	}()
}

// together writes a group in one transaction. If that transaction fails, together writes each part separately, so that
// only parts whose own conditions fail are rejected.
func (j *joined) together(group []*joining, writes []types.TransactWriteItem) {
	if len(group) > 1 && transact(group[0].ctx, j.db, writes...) == nil {
		for _, one := range group {
			one.done <- nil
		}
		return
	}
	var alone sync.WaitGroup
	for _, one := range group {
		alone.Go(func() { one.done <- transact(one.ctx, j.db, one.writes...) })
	}
	alone.Wait()
}
