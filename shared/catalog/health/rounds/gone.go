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
	// goneFor is the time by which a record outlives its endpoint, so that the endpoints of a list that returns keep their
	// health.
	goneFor = 30 * 24 * time.Hour
	// mostForgotten is the maximum number of records removed at once. The others are removed when the records are next
	// read.
	mostForgotten = 100
)

// forgetGone removes the records of endpoints that have long been missing from the catalogue.
func (r *Rounds) forgetGone(ctx context.Context, w *modeState, known map[string]health.Record) error {
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
