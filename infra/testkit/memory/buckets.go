package memory

import (
	"context"
	"sync"
	"time"

	"recordbridge/shared/platform/ratelimit"
)

// Buckets keeps rate-limit buckets as store.Flow does, for tests that take from them thousands of times. The
// zero value is ready to use.
type Buckets struct {
	mu  sync.Mutex
	tat map[string]time.Time
}

// Take implements maillimit.Buckets.
func (b *Buckets) Take(_ context.Context, bucket string, limit ratelimit.Limit,
	now time.Time,
) (ratelimit.Decision, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tat == nil {
		b.tat = map[string]time.Time{}
	}
	next, decision := ratelimit.GCRA(b.tat[bucket], now, limit)
	b.tat[bucket] = next
	return decision, nil
}
