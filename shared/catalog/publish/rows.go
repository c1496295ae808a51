package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"recordbridge/shared/catalog"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/fhir"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
)

// EndpointRows stores the endpoint rows that the connect endpoint reads (store.Portals).
type EndpointRows interface {
	// Endpoint reads the endpoint with the given ID. It returns fault.NotFound if the endpoint does not exist.
	Endpoint(ctx context.Context, id string) (catalog.Endpoint, error)
	// SaveEndpoint replaces revision e.Rev of an endpoint. It returns fault.Conflict if the stored revision differs.
	SaveEndpoint(ctx context.Context, e catalog.Endpoint) error
	// CreateEndpoints stores up to 100 new endpoints atomically. It returns fault.Conflict if any of the endpoints
	// already exists.
	CreateEndpoints(ctx context.Context, all []catalog.Endpoint) error
	// SaveWays stores up to 100 ways atomically, replacing existing ways. It returns fault.Conflict if any of the ways
	// was stored under a higher fence.
	SaveWays(ctx context.Context, fence int64, ways []catalog.Way) error
}

// Counts holds the numbers of endpoint rows by result.
type Counts struct {
	Created   int `json:"created"`
	Changed   int `json:"changed"`
	Suspended int `json:"suspended"`
	Operators int `json:"operators"` // unchanged rows that operators created
	Refused   int `json:"refused"`   // rows whose URL can't belong to a health system
	Ways      int `json:"ways"`      // number of catalog.Way rows
}

const (
	// batch is the number of rows per transaction, which is DynamoDB's maximum.
	batch = 100
	// atOnce is the maximum number of concurrent transactions or individual writes.
	atOnce = 8
	// stride is the number of rows between checkpoints. After an interruption, at most stride rows are processed again,
	// and unchanged endpoint rows are not rewritten.
	stride = 2000
)

// rowWriter writes a publication's rows.
type rowWriter struct {
	Publisher

	state  ledger.Publication
	mu     sync.Mutex // guards counts
	counts Counts
}

// write performs a phase's remaining changes.
func (w *rowWriter) write(ctx context.Context, changes []change) error {
	for w.state.Done < len(changes) {
		next := changes[w.state.Done:min(len(changes), w.state.Done+stride)]
		if err := w.block(ctx, next); err != nil {
			return err
		}
		w.state.Done += len(next)
		if w.state.Done == len(changes) {
			return nil // The caller stores the final position.
		}
		if err := w.save(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) save(ctx context.Context) error {
	saved, err := w.Ledger.SavePublication(ctx, w.state)
	if err != nil {
		return fmt.Errorf("note how far the publication has come: %w", err)
	}
	w.state = saved
	return nil
}

func (w *rowWriter) block(ctx context.Context, changes []change) error {
	var ways []catalog.Way
	var fresh, others []change
	for _, c := range changes {
		switch {
		case c.way != nil:
			ways = append(ways, *c.way)
		case !w.isElsewhere(c.to):
			w.count(func(n *Counts) { n.Refused++ })
		case c.from == nil:
			fresh = append(fresh, c)
		default:
			others = append(others, c)
		}
	}
	if err := w.ways(ctx, ways); err != nil {
		return fmt.Errorf("write ways: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for some := range slices.Chunk(fresh, batch) {
		group.Go(func() error { return w.create(ctx, some) })
	}
	for _, c := range others {
		group.Go(func() error { return w.one(ctx, c) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("write rows of endpoints: %w", err)
	}
	return nil
}

// ways stores ways. The fence is the publication's revision. Every checkpoint increments it, so an outdated publisher
// can't overwrite newer rows.
func (w *rowWriter) ways(ctx context.Context, ways []catalog.Way) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for some := range slices.Chunk(ways, batch) {
		group.Go(func() error {
			err := w.Endpoints.SaveWays(ctx, w.state.Rev, some)
			if err == nil {
				w.count(func(n *Counts) { n.Ways += len(some) })
			}
			return err
		})
	}
	return group.Wait() //nolint:wrapcheck // the caller does
}

// isElsewhere reports whether an endpoint's URL may be a health system's URL. The URL's host must differ from the
// service's, unless the URL is the sandbox's.
func (w *rowWriter) isElsewhere(e catalog.Endpoint) bool {
	_, err := fhir.ParseBase(e.FHIRBase)
	return err == nil && len(catalog.OwnURLs(w.BaseURL, e, catalog.Addresses{})) == 0
}

// create creates rows in a single transaction. If any row already exists, created by an operator or an interrupted run,
// the rows are written one by one.
func (w *rowWriter) create(ctx context.Context, changes []change) error {
	rows := make([]catalog.Endpoint, 0, len(changes))
	for _, c := range changes {
		rows = append(rows, c.to)
	}
	err := w.Endpoints.CreateEndpoints(ctx, rows)
	if !errors.Is(err, fault.Conflict) {
		if err == nil {
			w.count(func(n *Counts) { n.Created += len(rows) })
		}
		return err
	}
	for _, c := range changes {
		if err := w.one(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) one(ctx context.Context, c change) error {
	return retry.OnConflict(ctx, retry.Tries, func() error { return w.attempt(ctx, c) })
}

func (w *rowWriter) attempt(ctx context.Context, c change) error {
	row, err := w.Endpoints.Endpoint(ctx, c.to.ID)
	if errors.Is(err, fault.NotFound) {
		if c.to.Status != catalog.EndpointActive {
			return nil
		}
		return w.make(ctx, c.to)
	}
	if err != nil {
		return err
	}
	if !row.Published {
		w.count(func(n *Counts) { n.Operators++ })
		return nil
	}
	next := c.merged(row)
	if next == row {
		return nil
	}
	if err := w.Endpoints.SaveEndpoint(ctx, next); err != nil {
		return err
	}
	w.count(func(n *Counts) {
		if next.Status != row.Status && next.Status == catalog.EndpointSuspended {
			n.Suspended++
		} else {
			n.Changed++
		}
	})
	return nil
}

func (w *rowWriter) make(ctx context.Context, row catalog.Endpoint) error {
	if err := w.Endpoints.CreateEndpoints(ctx, []catalog.Endpoint{row}); err != nil {
		return err
	}
	w.count(func(n *Counts) { n.Created++ })
	return nil
}

func (w *rowWriter) count(add func(*Counts)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	add(&w.counts)
}
