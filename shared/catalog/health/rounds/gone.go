package rounds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/words/fault"
)

const (
	// goneFor is how long what is known of an endpoint outlives it: a list that comes back finds how its endpoints fared.
	goneFor = 30 * 24 * time.Hour
	// mostForgotten is how many are forgotten at once; the others when records are read next.
	mostForgotten = 100
)

// forgetGone removes the records of endpoints that the catalogue has had no more for long.
func (r *Rounds) forgetGone(ctx context.Context, w *ward, known map[string]health.Record) error {
	for _, e := range w.entries {
		delete(known, e.ID)
	}
	forgotten := 0
	for _, gone := range known {
		if r.Now().Sub(gone.CheckedAt) < goneFor || forgotten == mostForgotten {
			continue
		}
		forgotten++
		if err := r.Records.Forget(ctx, gone); err != nil && !errors.Is(err, fault.Conflict) {
			return fmt.Errorf("forget an endpoint: %w", err)
		}
	}
	return nil
}
