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

// DiscoveryReader reads the discovered URLs that the health probe has stored (store.CatalogHealth).
type DiscoveryReader interface {
	DiscoveredURLs(ctx context.Context, mode string) ([]health.DiscoveredURLs, error)
}

// discoveredLate is the maximum delay before stored URLs appear in the list of discovered URLs.
const discoveredLate = time.Hour

// pin pins each endpoint that has no pins yet to the URLs in its discovery document. Each URL must have the endpoint's
// own origin or one of its platform's origins. All of these origins were already trusted
// (docs/adr/0012-pinned-portals.md), so pinning only narrows the set of trusted origins. Existing pins never change.
func (p Publisher) pin(ctx context.Context, state ledger.Publication) (ledger.Publication, int, error) {
	all, err := p.DiscoveredURLs.DiscoveredURLs(ctx, state.Mode)
	if err != nil {
		return state, 0, fmt.Errorf("read discovered URLs: %w", err)
	}
	latest := state.PinnedThrough
	var pinned atomic.Int64
	group, limited := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, seen := range all {
		if !seen.SeenAt.After(state.PinnedThrough.Add(-discoveredLate)) {
			continue
		}
		if seen.SeenAt.After(latest) {
			latest = seen.SeenAt
		}
		if len(seen.Untrusted) > 0 || seen.Pins == (catalog.Pins{}) {
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
	if latest.Equal(state.PinnedThrough) {
		return state, int(pinned.Load()), nil
	}
	state.PinnedThrough = latest
	saved, err := p.Ledger.SavePublication(ctx, state)
	if err != nil {
		return state, int(pinned.Load()), fmt.Errorf("note what was pinned: %w", err)
	}
	return saved, int(pinned.Load()), nil
}

// pinOne pins a single endpoint. If the row changes concurrently, the next run pins the endpoint.
func (p Publisher) pinOne(ctx context.Context, seen health.DiscoveredURLs) (bool, error) {
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
