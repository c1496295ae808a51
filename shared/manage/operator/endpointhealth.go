package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// EndpointHealth reports the health of the endpoints in the catalogue.
type EndpointHealth struct {
	rows      HealthRows
	catalog   CatalogPointers
	snapshots EndpointSnapshots
	endpoints EndpointReader
}

// HealthRows reads the health status of endpoints.
type HealthRows interface {
	Records(ctx context.Context, mode string) ([]health.Record, error)
	DiscoveredURLs(ctx context.Context, mode string) ([]health.DiscoveredURLs, error)
	Pointer(ctx context.Context, mode string) (health.Pointer, error)
}

// CatalogPointers reads the catalogue's live versions and sources.
type CatalogPointers interface {
	SourceLister
	Pointer(ctx context.Context, mode string) (ledger.Pointer, error)
}

// EndpointSnapshots reads the endpoints in a published version of the catalogue.
type EndpointSnapshots interface {
	Endpoints(ctx context.Context, mode string, v ledger.Version) (map[string]record.Endpoint, error)
}

// NewEndpointHealth returns an EndpointHealth with the given dependencies.
func NewEndpointHealth(
	rows HealthRows, pointers CatalogPointers, snapshots EndpointSnapshots, endpoints EndpointReader,
) EndpointHealth {
	return EndpointHealth{rows: rows, catalog: pointers, snapshots: snapshots, endpoints: endpoints}
}

// HealthReport holds the health of the endpoints in a mode.
type HealthReport struct {
	Summary    health.Pointer       // health summary used by the catalogue search
	States     map[health.State]int // number of active endpoints in each state
	Causes     map[string]int       // number of endpoints with each cause of failure
	Endpoints  []EndpointHealthRow  // selected endpoints, longest in their current state first
	Departures []EndpointDepartures
	Bundles    []Bundle
}

// HealthQuestion selects the endpoints that a report lists individually in addition to its counts.
type HealthQuestion struct {
	State      health.State // list endpoints in this state; if empty, list none
	Departures bool         // list endpoints whose discovery document contains unapproved URLs
	Bundles    bool         // list brand bundles referenced by endpoints
}

// EndpointHealthRow holds an endpoint and its health.
type EndpointHealthRow struct {
	Endpoint record.Endpoint
	Record   health.Record
}

// EndpointDepartures holds an endpoint whose discovery document contains unapproved URLs.
type EndpointDepartures struct {
	Endpoint record.Endpoint
	To       []catalog.Departure
}

// Bundle describes a brand bundle that endpoints reference but that is not a catalogue source.
type Bundle struct {
	Address   string
	Endpoints []record.Endpoint // endpoints that reference the bundle, sorted by ID
}

// Report returns the health of the endpoints in a mode. It returns fault.Invalid for an invalid mode or question.
func (o EndpointHealth) Report(ctx context.Context, mode string, q HealthQuestion) (HealthReport, error) {
	if _, ok := org.ParseMode(mode); !ok {
		return HealthReport{}, fault.BadRequest("mode must be test or live.").About("mode")
	}
	if q.State != "" &&
		!slices.Contains([]health.State{health.OK, health.Degraded, health.Down, health.Unknown}, q.State) {
		return HealthReport{}, fault.BadRequest("state must be ok, degraded, down or unknown.").About("state")
	}
	live, err := o.catalog.Pointer(ctx, mode)
	if err != nil {
		return HealthReport{}, fmt.Errorf("read pointer: %w", err)
	}
	var endpoints map[string]record.Endpoint
	if live.Live != "" {
		if endpoints, err = o.snapshots.Endpoints(ctx, mode, live.Live); err != nil {
			return HealthReport{}, fmt.Errorf("read endpoints: %w", err)
		}
	}
	report := HealthReport{States: make(map[health.State]int, 4), Causes: map[string]int{}}
	if report.Summary, err = o.rows.Pointer(ctx, mode); err != nil {
		return HealthReport{}, fmt.Errorf("read pointer of health: %w", err)
	}
	records, err := o.rows.Records(ctx, mode)
	if err != nil {
		return HealthReport{}, fmt.Errorf("read health: %w", err)
	}
	report.add(endpoints, records, q.State)
	if !q.Departures && !q.Bundles {
		return report, nil
	}
	seen, err := o.rows.DiscoveredURLs(ctx, mode)
	if err != nil {
		return HealthReport{}, fmt.Errorf("read discovered URLs: %w", err)
	}
	if q.Bundles {
		if report.Bundles, err = o.bundles(ctx, seen, endpoints); err != nil {
			return HealthReport{}, err
		}
	}
	if q.Departures {
		report.Departures, err = o.departures(ctx, seen, endpoints)
	}
	return report, err
}

// add counts the active endpoints by state and cause and lists those in the given state.
func (r *HealthReport) add(endpoints map[string]record.Endpoint, records []health.Record, state health.State) {
	known := make(map[string]health.Record, len(records))
	for _, one := range records {
		known[one.EndpointID] = one
	}
	for id, e := range endpoints {
		if e.Status != record.Active || e.RemovedAt != nil {
			continue
		}
		found := known[id]
		found.State = cmp.Or(found.State, health.Unknown)
		r.States[found.State]++
		if found.Cause != "" {
			r.Causes[found.Cause]++
		}
		if found.State == state {
			r.Endpoints = append(r.Endpoints, EndpointHealthRow{Endpoint: e, Record: found})
		}
	}
	slices.SortFunc(r.Endpoints, func(x, y EndpointHealthRow) int {
		return cmp.Or(x.Record.Since.Compare(y.Record.Since), cmp.Compare(x.Endpoint.ID, y.Endpoint.ID))
	})
}

// departures returns the active endpoints whose discovery document contains unapproved URLs. It omits endpoints whose
// current pins equal the discovered URLs.
func (o EndpointHealth) departures(ctx context.Context, seen []health.DiscoveredURLs,
	endpoints map[string]record.Endpoint,
) ([]EndpointDepartures, error) {
	var found []EndpointDepartures
	for _, s := range seen {
		e, isThere := endpoints[s.EndpointID]
		if len(s.Untrusted) == 0 || !isThere || e.Status != record.Active {
			continue
		}
		row, err := o.endpoints.Endpoint(ctx, s.EndpointID)
		switch {
		case errors.Is(err, fault.NotFound):
		case err != nil:
			return nil, fmt.Errorf("read endpoint: %w", err)
		case row.Pins == s.Pins:
			continue
		}
		found = append(found, EndpointDepartures{Endpoint: e, To: s.Untrusted})
	}
	slices.SortFunc(found, func(x, y EndpointDepartures) int { return cmp.Compare(x.Endpoint.ID, y.Endpoint.ID) })
	return found, nil
}

// bundles returns the brand bundles that endpoints reference but that no catalogue source fetches. Bundles are ordered
// by the number of endpoints that reference them, highest first.
func (o EndpointHealth) bundles(ctx context.Context, seen []health.DiscoveredURLs,
	endpoints map[string]record.Endpoint,
) ([]Bundle, error) {
	sources, err := o.catalog.Sources(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	isSource := map[string]bool{"": true}
	for _, row := range sources {
		isSource[row.Source.URL] = true
	}
	by := map[string][]record.Endpoint{}
	for _, s := range seen {
		if e, isThere := endpoints[s.EndpointID]; isThere && !e.Gone() && !isSource[s.Bundle] {
			by[s.Bundle] = append(by[s.Bundle], e)
		}
	}
	found := make([]Bundle, 0, len(by))
	for address, those := range by {
		slices.SortFunc(those, func(x, y record.Endpoint) int { return cmp.Compare(x.ID, y.ID) })
		found = append(found, Bundle{Address: address, Endpoints: those})
	}
	slices.SortFunc(found, func(x, y Bundle) int {
		return cmp.Or(cmp.Compare(len(y.Endpoints), len(x.Endpoints)), cmp.Compare(x.Address, y.Address))
	})
	return found, nil
}
