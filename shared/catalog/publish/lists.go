package publish

import (
	"context"
	"fmt"
	"io"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/catalog/listing"
)

// OperatorSource is the source ID of institutions that operators created.
const OperatorSource = "operator"

// operatorPriority exceeds any published list's priority, because operators' own institutions are more reliable.
const operatorPriority = 10_000

// Accepted reads the accepted listings of all sources, and operators' own institutions.
type Accepted struct {
	Sources intake.Rows
	Objects Objects
	Own     OwnEndpoints
}

// Objects reads objects from the Catalog bucket. Open returns fault.NotFound if the object does not exist.
type Objects interface {
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// OwnEndpoints reads the endpoints that operators created (store.Portals).
type OwnEndpoints interface {
	// Endpoints returns the endpoints' IDs.
	Endpoints(ctx context.Context) ([]string, error)
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
}

// Lists implements Lists.
func (a Accepted) Lists(ctx context.Context, mode string) ([]compose.List, error) {
	rows, err := a.Sources.Sources(ctx)
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	own, err := a.own(ctx, mode)
	if err != nil {
		return nil, err
	}
	lists := []compose.List{own}
	for _, row := range rows {
		if row.Source.Mode != mode || row.State.Accepted == nil {
			continue
		}
		read := compose.List{
			Source: row.Source.ID, Priority: row.Source.Rank(), Platform: row.Source.Platform,
			UnconfirmedSince: row.State.UnconfirmedSince,
		}
		if read.Listings, err = a.listings(ctx, row.State.Accepted.Key); err != nil {
			return nil, fmt.Errorf("listings of source %s: %w", row.Source.ID, err)
		}
		lists = append(lists, read)
	}
	return lists, nil
}

func (a Accepted) listings(ctx context.Context, key string) ([]listing.Listing, error) {
	body, err := a.Objects.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var all []listing.Listing
	err = listing.Stored(body, func(l listing.Listing) error {
		all = append(all, l)
		return nil
	})
	return all, err
}

// own returns the institutions that operators created in a mode, under their existing IDs.
func (a Accepted) own(ctx context.Context, mode string) (compose.List, error) {
	made := compose.List{Source: OperatorSource, Priority: operatorPriority, Trusted: true}
	found, err := a.Own.Endpoints(ctx)
	if err != nil {
		return made, fmt.Errorf("list endpoints: %w", err)
	}
	for _, id := range found {
		e, err := a.Own.Endpoint(ctx, id)
		if err != nil {
			return made, fmt.Errorf("read endpoint: %w", err)
		}
		if e.Mode != mode {
			continue
		}
		made.Listings = append(made.Listings, listing.Listing{
			Key: e.ID, ID: e.BrandID, Name: e.Name,
			Portals: []listing.Portal{{Key: e.PortalID, ID: e.PortalID, Name: e.Name, Endpoints: []listing.Endpoint{{
				Address: e.FHIRBase, ID: e.ID, Name: e.Name, FHIRVersion: e.FHIRVersion, Platform: e.PlatformType,
				Off: e.Status != catalog.EndpointActive,
			}}}},
		})
	}
	return made, nil
}
