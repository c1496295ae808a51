package store

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	// mostJoined bounds the writes of one transaction (DynamoDB's limit is 100).
	mostJoined = 100
	// longestJoin bounds how long a transaction waits for the one under way, so that a call without an answer delays
	// only its own writes.
	longestJoin = time.Second
)

// joined writes small transactions. Those that come while one is under way go together into the next one, which costs
// one call; a transaction that comes alone is written at once, as it is. A transaction with others still succeeds or
// fails by its own conditions. It is safe for concurrent use.
type joined struct {
	db DB

	mu      sync.Mutex
	isBusy  bool
	waiting []*joining
}

// joining is a transaction that waits for the one under way.
type joining struct {
	ctx    context.Context //nolint:containedctx // its caller waits
	writes []types.TransactWriteItem
	done   chan error
}

// transact writes all or nothing; fault.Conflict when a condition does not hold.
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

// wait returns nil if no transaction is under way: then the caller's is.
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

// leave reports whether a transaction was still waiting; it no longer is.
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

// next begins with those that have waited, as many as fit into one transaction.
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

// together writes a group in one transaction. When that fails, each by itself shows which of them cannot be written.
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
