// Package memory implements in-memory stores for tests that create thousands of stores or make hundreds of thousands of
// calls. All other tests use the embedded AWS (infra/test/tables). The suites in package storetest run against both the
// DynamoDB stores and the in-memory stores. Only tests import this package.
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

// Hook wraps a call. A hook can run the call's effect, skip it, or run it and then return an error. Tests use hooks to
// crash a worker or lose a response.
type Hook func(call string, effect func() error) error

// run passes effect to the hook, or calls effect directly if the hook is nil.
func (h Hook) run(call string, effect func() error) error {
	if h == nil {
		return effect()
	}
	return h(call, effect)
}

// over returns an error if ctx is done.
func over(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return nil
}

// row is the map key of a tenant's row.
type row struct {
	tenant org.Tenant
	id     string
}

// missing returns the error for reading a record that does not exist.
func missing() error { return fault.Missing("Record not found.") }

// of returns a tenant's values, ordered by ID.
func of[V any](all map[row]V, tenant org.Tenant) []V {
	var found []V
	for _, at := range slices.SortedFunc(maps.Keys(all), func(a, b row) int { return cmp.Compare(a.id, b.id) }) {
		if at.tenant == tenant {
			found = append(found, all[at])
		}
	}
	return found
}

// Buckets stores rate-limit buckets like store.Flow, for tests that use them thousands of times. The zero value is
// ready to use.
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
