package publish_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/infra/testkit/ownhosts"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/publish"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/fault"
)

const baseURL = "https://api.example/v1"

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

var errCrash = errors.New("crashed")

// world simulates the publisher's dependencies and counts their writes. From write number crashAt on, every write
// fails.
type world struct {
	ledger    store.Catalog
	files     memory.Files
	now       time.Time
	next      func(before record.Catalog, now time.Time) record.Catalog
	connected map[string]bool
	asked     int
	seen      []health.DiscoveredURLs

	mu      sync.Mutex
	rows    map[string]catalog.Endpoint
	ways    map[string]catalog.Way // keyed by endpoint and requested brand
	fence   int64                  // fencing token of the last SaveWays call
	writes  int
	crashAt int // number of the first write that fails; 0 if none fails
	told    []string
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	made := tables.New(tb)
	return &world{
		ledger: store.Catalog{DB: made.DB, Table: made.Name("CatalogTable")}, now: noon,
		rows: map[string]catalog.Endpoint{}, ways: map[string]catalog.Way{}, connected: map[string]bool{},
	}
}

func (w *world) Lists(context.Context, string) ([]compose.List, error) { return nil, nil }

func (w *world) DiscoveredURLs(context.Context, string) ([]health.DiscoveredURLs, error) {
	return w.seen, nil
}

func (w *world) ConnectedAt(_ context.Context, _ string, endpoints map[string]bool) (map[string]bool, error) {
	w.asked++
	found := map[string]bool{}
	for id := range endpoints {
		found[id] = w.connected[id]
	}
	return found, nil
}

func (w *world) Endpoint(_ context.Context, id string) (catalog.Endpoint, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, known := w.rows[id]
	if !known {
		return e, fault.Missing("no endpoint")
	}
	return e, nil
}

func (w *world) SaveEndpoint(_ context.Context, e catalog.Endpoint) error {
	if err := w.write("row " + e.ID); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rows[e.ID].Rev != e.Rev {
		return fault.Stale()
	}
	e.Rev++
	w.rows[e.ID] = e
	return nil
}

func (w *world) CreateEndpoints(_ context.Context, all []catalog.Endpoint) error {
	if len(all) > 100 {
		return fmt.Errorf("%d rows at once", len(all))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range all {
		if _, taken := w.rows[e.ID]; taken {
			return fault.Stale()
		}
	}
	if w.writes++; w.crashAt > 0 && w.writes >= w.crashAt {
		return errCrash
	}
	w.told = append(w.told, "rows")
	for _, e := range all {
		e.Rev = 1
		w.rows[e.ID] = e
	}
	return nil
}

func (w *world) SaveWays(_ context.Context, fence int64, ways []catalog.Way) error {
	if err := w.write("ways"); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if fence < w.fence || len(ways) > 100 {
		return fmt.Errorf("%d ways at %d after %d", len(ways), fence, w.fence)
	}
	w.fence = fence
	for _, way := range ways {
		w.ways[way.EndpointID+" "+way.Asked] = way
	}
	return nil
}

func (w *world) publisher() publish.Publisher {
	return publish.Publisher{
		Own:    ownhosts.Own(),
		Ledger: ledgerOf{w.ledger, w}, Snapshots: snapshot.Snapshots{Files: filesOf{w}}, Lists: w, Endpoints: w, Connected: w,
		DiscoveredURLs: w,
		Compose: func(in compose.Input) (record.Catalog, compose.Report) {
			return w.next(in.Before, in.Now), compose.Report{}
		},
		BaseURL: baseURL, Now: func() time.Time { return w.now },
	}
}

// write counts a write. From write number crashAt on, it fails.
func (w *world) write(what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writes++; w.crashAt > 0 && w.writes >= w.crashAt {
		return errCrash
	}
	w.told = append(w.told, what)
	return nil
}

// ledgerOf and filesOf count the writes to the ledger and to files.
type ledgerOf struct {
	store.Catalog

	world *world
}

func (l ledgerOf) MovePointer(ctx context.Context, seen, next ledger.Pointer) error {
	if err := l.world.write("pointer"); err != nil {
		return err
	}
	return l.Catalog.MovePointer(ctx, seen, next)
}

func (l ledgerOf) SavePublication(ctx context.Context, p ledger.Publication) (ledger.Publication, error) {
	if err := l.world.write("publication " + string(p.Phase)); err != nil {
		return p, err
	}
	return l.Catalog.SavePublication(ctx, p)
}

type filesOf struct{ *world }

func (f filesOf) Write(ctx context.Context, key, contentType string, write func(io.Writer) error) error {
	if err := f.write("file"); err != nil {
		return err
	}
	return f.files.Write(ctx, key, contentType, write)
}

func (f filesOf) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return f.files.Open(ctx, key)
}

func (f filesOf) Delete(ctx context.Context, key string) error {
	if err := f.write("deletion"); err != nil {
		return err
	}
	return f.files.Delete(ctx, key)
}

// institutions returns a function that composes n institutions, each with a portal and a server, and applies change.
func institutions(n int, change func(*record.Catalog)) func(record.Catalog, time.Time) record.Catalog {
	return func(record.Catalog, time.Time) record.Catalog {
		c := record.Catalog{
			Brands: map[string]record.Brand{}, Portals: map[string]record.Portal{}, Endpoints: map[string]record.Endpoint{},
			Successors: map[string]string{},
		}
		for i := range n {
			name := fmt.Sprintf("Hospital %d", i)
			c.Brands[brand(i)] = record.Brand{ID: brand(i), Name: name, SortName: name, PortalIDs: []string{portal(i)}}
			c.Portals[portal(i)] = record.Portal{ID: portal(i), Name: name, EndpointIDs: []string{server(i)}}
			c.Endpoints[server(i)] = record.Endpoint{
				ID: server(i), Status: record.Active, Name: name, PlatformType: "smart", FHIRVersion: "4.0.1",
				FHIRBase: fmt.Sprintf("https://fhir%d.example/r4", i),
			}
		}
		if change != nil {
			change(&c)
		}
		return c
	}
}

func brand(i int) string  { return fmt.Sprintf("b0000000-0000-4000-8000-%012d", i) }
func portal(i int) string { return fmt.Sprintf("d0000000-0000-4000-8000-%012d", i) }
func server(i int) string { return fmt.Sprintf("e0000000-0000-4000-8000-%012d", i) }

func removed(from, to int) func(*record.Catalog) {
	return func(c *record.Catalog) {
		for i := from; i < to; i++ {
			gone := record.State{RemovedAt: &noon}
			b, p, e := c.Brands[brand(i)], c.Portals[portal(i)], c.Endpoints[server(i)]
			b.State, p.State, e.State, e.Status = gone, gone, gone, record.Suspended
			c.Brands[brand(i)], c.Portals[portal(i)], c.Endpoints[server(i)] = b, p, e
		}
	}
}

func changed(i int, change func(*record.Endpoint)) func(*record.Catalog) {
	return func(c *record.Catalog) {
		e := c.Endpoints[server(i)]
		change(&e)
		c.Endpoints[server(i)] = e
	}
}

func (w *world) publish(t *testing.T) publish.Outcome {
	t.Helper()
	out, err := w.publisher().Publish(t.Context(), "test")
	expect.NoError(t, err)
	w.now = w.now.Add(time.Minute)
	return out
}

// active returns the rows of the endpoints to which patients are sent.
func (w *world) active() []string {
	return slices.Sorted(maps.Keys(maps.Collect(func(yield func(string, bool) bool) {
		for id, e := range w.rows {
			if e.Status == catalog.EndpointActive && !yield(id, true) {
				return
			}
		}
	})))
}
