// Package rounds probes the due endpoints of the live catalogue, some of them in every run, and stores the findings
// (docs/adr/0030-health-of-endpoints.md). It schedules the probes and limits their concurrency, with at most one at a
// time for each host. Package health interprets the findings, and package smart performs the requests. A lost run loses
// only its findings: the endpoints remain due.
package rounds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/logx"
)

// Catalogs returns the live catalogues.
type Catalogs interface {
	// Live returns the live catalogue of a mode, or the zero Catalog before the first publication. If known is its
	// version, it may omit the endpoints.
	Live(ctx context.Context, mode, known string) (Catalog, error)
}

// Catalog holds the endpoints of one mode to probe.
type Catalog struct {
	Version   string
	Published time.Time
	Endpoints []health.Endpoint // active endpoints
}

// Records stores the health of endpoints and the lease of the rounds.
type Records interface {
	// Begin claims the rounds until a time and counts them. It returns fault.Conflict while another process holds them.
	Begin(ctx context.Context, now, until time.Time) (run int64, err error)
	// Records returns all records of a mode.
	Records(ctx context.Context, mode string) ([]health.Record, error)
	// SaveRecord replaces revision r.Rev, or creates the record if r.Rev is 0. It returns fault.Conflict if the stored
	// revision differs.
	SaveRecord(ctx context.Context, r health.Record) error
	// Forget removes an endpoint's record, as it was read, and its discovered URLs. It returns fault.Conflict if the
	// stored revision differs.
	Forget(ctx context.Context, r health.Record) error
	// SaveDiscoveredURLs replaces the discovered URLs of an endpoint.
	SaveDiscoveredURLs(ctx context.Context, s health.DiscoveredURLs) error
	// Pointer names the current summary. It is zero except for the mode if there is none.
	Pointer(ctx context.Context, mode string) (health.Pointer, error)
	// MovePointer replaces revision p.Rev. It returns fault.Conflict if the stored revision differs.
	MovePointer(ctx context.Context, p health.Pointer) error
}

// Prober checks whether patients could sign in at a server, within the deadline of ctx.
type Prober interface {
	Probe(ctx context.Context, e health.Endpoint) health.Finding
}

// Observer reports the results of real connections at token endpoints, which are named as by Prober.
type Observer interface {
	// Failing reports whether the last several consecutive token requests met a failure of the server.
	Failing(ctx context.Context, token string) (bool, error)
	// Answered counts the token requests since a time, within the last hour at most, that got a token or a definite
	// refusal.
	Answered(ctx context.Context, token string, since time.Time) (int, error)
}

// Deps holds the dependencies of Rounds. All are required.
type Deps struct {
	Catalogs Catalogs
	Records  Records
	Prober   Prober
	Observer Observer
	// Put stores an object, which is never changed.
	Put func(ctx context.Context, name string, body []byte) error
	// Admits reports whether a URL may be probed. On a laptop only its own URLs may be.
	Admits func(base string) bool
	Now    func() time.Time
}

// Rounds caches the rows it has read between the runs of a process. The number of the run shows whether another process
// has run since.
type Rounds struct {
	Deps

	mu     sync.Mutex
	run    int64
	states map[string]*modeState // cached state by mode
}

// modeState is the cached state of one mode.
type modeState struct {
	mode       string
	catalog    Catalog
	entries    []*entry // by id; nil if they must be read
	summarized time.Time
}

// entry is an endpoint with its record.
type entry struct {
	health.Endpoint

	record health.Record
	dueAt  time.Time
}

// New returns Rounds with the given dependencies.
func New(d Deps) *Rounds {
	return &Rounds{Deps: d, states: map[string]*modeState{"test": {mode: "test"}, "live": {mode: "live"}}}
}

// longest is the duration of a run without a deadline.
const longest = 50 * time.Second

// Run probes due endpoints and ends before the deadline of ctx. It records its results on the log line of ctx. An error
// is an internal failure and does not affect an endpoint's record.
func (r *Rounds) Run(ctx context.Context) error {
	if !r.mu.TryLock() {
		return nil // this process is already running it
	}
	defer r.mu.Unlock()
	endpoints, err := r.readCatalogs(ctx)
	if err != nil || endpoints == 0 {
		return err
	}
	now := r.Now()
	until, ok := ctx.Deadline()
	if !ok {
		until = now.Add(longest)
	}
	run, err := r.Records.Begin(ctx, now, until)
	if errors.Is(err, fault.Conflict) {
		logx.Add(ctx, slog.Bool("elsewhere", true))
		return nil
	}
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if run != r.run+1 {
		r.forget()
	}
	r.run = run
	if err = r.readRecords(ctx); err != nil {
		return err
	}
	err = errors.Join(r.probeDue(ctx, now, until), r.summarize(ctx, now))
	if err != nil {
		r.run = 0 // the cache may differ from the stored rows
	}
	return err
}

func (r *Rounds) forget() {
	for _, w := range r.states {
		w.entries = nil
	}
}

func (r *Rounds) readCatalogs(ctx context.Context) (endpoints int, err error) {
	for _, w := range r.states {
		live, err := r.Catalogs.Live(ctx, w.mode, w.catalog.Version)
		if err != nil {
			return 0, fmt.Errorf("catalogue of %s: %w", w.mode, err)
		}
		if live.Version != w.catalog.Version {
			w.catalog, w.entries = live, nil
		}
		endpoints += len(w.catalog.Endpoints)
	}
	return endpoints, nil
}

func (r *Rounds) readRecords(ctx context.Context) error {
	for _, w := range r.states {
		if w.entries != nil || len(w.catalog.Endpoints) == 0 {
			continue
		}
		all, err := r.Records.Records(ctx, w.mode)
		if err != nil {
			return fmt.Errorf("records of %s: %w", w.mode, err)
		}
		known := make(map[string]health.Record, len(all))
		for _, one := range all {
			known[one.EndpointID] = one
		}
		for _, e := range w.catalog.Endpoints {
			one := &entry{Endpoint: e}
			w.remember(one, known[e.ID])
			w.entries = append(w.entries, one)
		}
		slices.SortFunc(w.entries, func(x, y *entry) int { return cmp.Compare(x.ID, y.ID) })
		w.summarized = time.Time{}
		if err := r.forgetGone(ctx, w, known); err != nil {
			return err
		}
	}
	return nil
}

// remember sets the record of an endpoint; it is zero if the endpoint was never probed.
func (w *modeState) remember(e *entry, known health.Record) {
	known.EndpointID, known.Mode = e.ID, w.mode
	e.record, e.dueAt = known, health.DueAt(known, w.catalog.Published, len(w.catalog.Endpoints))
}
