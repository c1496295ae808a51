// Package memory models stores in maps, for tests that make thousands of worlds or hundreds of thousands of
// calls. All other tests use the embedded AWS (infra/test/tables). The suites of package storetest run against
// both. Only tests link it.
package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"recordbridge/shared/platform/ratelimit"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Hook runs a call's effect, or does not, or fails after it: it is how a test crashes a worker or loses an answer.
type Hook func(call string, effect func() error) error

// run makes a call, under the hook if there is one.
func (h Hook) run(call string, effect func() error) error {
	if h == nil {
		return effect()
	}
	return h(call, effect)
}

// over is an error once nothing can be asked in ctx any more.
func over(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return nil
}

// row addresses what one tenant has.
type row struct {
	tenant org.Tenant
	id     string
}

// missing is what a read of nothing answers.
func missing() error { return fault.Missing("Record not found.") }

// of lists what a tenant has, by id.
func of[V any](all map[row]V, tenant org.Tenant) []V {
	var found []V
	for _, at := range slices.SortedFunc(maps.Keys(all), func(a, b row) int { return cmp.Compare(a.id, b.id) }) {
		if at.tenant == tenant {
			found = append(found, all[at])
		}
	}
	return found
}

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
