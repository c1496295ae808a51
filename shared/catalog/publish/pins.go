package publish

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/words/fault"
)

// Sightings reads the discovered URLs that the health probe has stored (store.CatalogHealth).
type Sightings interface {
	Sightings(ctx context.Context, mode string) ([]health.Sighting, error)
}

// sightedLate is the maximum delay after which a sighting appears in the list.
const sightedLate = time.Hour

// pin pins endpoints without pins to the URLs of their discovery, if all of these are at their own origin or their
// platform's. Those were already trusted (docs/adr/0012-pinned-portals.md), so pinning only restricts. Existing pins
// never change, whatever the sighting.
func (p Publisher) pin(ctx context.Context, state ledger.Publication) (ledger.Publication, int, error) {
	all, err := p.Sightings.Sightings(ctx, state.Mode)
	if err != nil {
		return state, 0, fmt.Errorf("read sightings: %w", err)
	}
	latest := state.Sighted
	var pinned atomic.Int64
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, seen := range all {
		if !seen.SeenAt.After(state.Sighted.Add(-sightedLate)) {
			continue
		}
		if seen.SeenAt.After(latest) {
			latest = seen.SeenAt
		}
		if len(seen.Abroad) > 0 || seen.Pins == (catalog.Pins{}) {
			continue
		}
		group.Go(func() error {
			isPinned, failure := p.pinOne(limited, seen)
			if isPinned {
				pinned.Add(1)
			}
			return failure
		})
	}
	if err = group.Wait(); err != nil {
		return state, int(pinned.Load()), fmt.Errorf("pin endpoints: %w", err)
	}
	if latest.Equal(state.Sighted) {
		return state, int(pinned.Load()), nil
	}
	state.Sighted = latest
	saved, err := p.Ledger.SavePublication(ctx, state)
	if err != nil {
		return state, int(pinned.Load()), fmt.Errorf("note what was pinned: %w", err)
	}
	return saved, int(pinned.Load()), nil
}

// pinOne pins one endpoint. If the endpoint is changed concurrently, it waits for the next run.
func (p Publisher) pinOne(ctx context.Context, seen health.Sighting) (bool, error) {
	row, err := p.Endpoints.Endpoint(ctx, seen.EndpointID)
	if errors.Is(err, fault.NotFound) || err == nil &&
		(!row.Published || row.Mode != seen.Mode || row.Pins != catalog.Pins{}) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	row.Pins = seen.Pins
	err = p.Endpoints.SaveEndpoint(ctx, row)
	if errors.Is(err, fault.Conflict) {
		return false, nil
	}
	return err == nil, err
}
