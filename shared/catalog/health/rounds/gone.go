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
	// goneFor is the retention period of a removed endpoint's record, counted from the endpoint's last conclusive
	// probe. If a removed list returns within this time, its endpoints keep their health.
	goneFor = 30 * 24 * time.Hour
	// mostForgotten is the maximum number of records removed at once. Any remaining records are removed after the
	// records are next read.
	mostForgotten = 100
)

// forgetGone removes the records of endpoints that are missing from the catalogue and whose last conclusive probe was
// at least goneFor ago.
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
