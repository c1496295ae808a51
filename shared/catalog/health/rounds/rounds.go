// Package rounds periodically probes the live catalogue's due endpoints and stores the findings
// (docs/adr/0030-health-of-endpoints.md). Each run probes a limited number of due endpoints, at most one at a time per
// host. Package health interprets the findings, and package smart sends the requests. If a run fails, only its findings
// are lost; the endpoints remain due.
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
	// Live returns a mode's live catalogue, or the zero Catalog if nothing has been published. If known is the live
	// catalogue's version, Live may omit the endpoints.
	Live(ctx context.Context, mode, known string) (Catalog, error)
}

// Catalog holds the endpoints to probe in one mode.
type Catalog struct {
	Version   string
	Published time.Time
	Endpoints []health.Endpoint // active endpoints
}

// Records stores endpoint health and the lease held by a run.
type Records interface {
	// Begin acquires the lease until the given time and returns the run's number. It returns fault.Conflict if another
	// process holds the lease.
	Begin(ctx context.Context, now, until time.Time) (run int64, err error)
	// Records returns all of a mode's records.
	Records(ctx context.Context, mode string) ([]health.Record, error)
	// SaveRecord replaces the stored record at revision r.Rev, or creates the record if r.Rev is 0. It returns
	// fault.Conflict if the stored revision differs.
	SaveRecord(ctx context.Context, r health.Record) error
	// Forget removes an endpoint's record and its discovered URLs. It returns fault.Conflict if the stored revision is
	// not r.Rev.
	Forget(ctx context.Context, r health.Record) error
	// SaveDiscoveredURLs replaces an endpoint's discovered URLs.
	SaveDiscoveredURLs(ctx context.Context, s health.DiscoveredURLs) error
	// Pointer returns the pointer to the mode's current summary. If the mode has no summary, only the pointer's mode is
	// set.
	Pointer(ctx context.Context, mode string) (health.Pointer, error)
	// MovePointer replaces the stored pointer at revision p.Rev. It returns fault.Conflict if the stored revision
	// differs.
	MovePointer(ctx context.Context, p health.Pointer) error
}

// Prober checks whether patients could sign in at a server. A probe ends by ctx's deadline.
type Prober interface {
	Probe(ctx context.Context, e health.Endpoint) health.Finding
}

// Observer reports the outcome of the token requests that connections make. Observer and Prober use the same names for
// token endpoints.
type Observer interface {
	// Failing reports whether the most recent token requests all failed because of the server.
	Failing(ctx context.Context, token string) (bool, error)
	// Answered returns the number of token requests since the given time that yielded a token or a definitive rejection
	// of the grant. since is at most an hour ago.
	Answered(ctx context.Context, token string, since time.Time) (int, error)
}

// Deps holds the dependencies of Rounds. All fields are required.
type Deps struct {
	Catalogs Catalogs
	Records  Records
	Prober   Prober
	Observer Observer
	// Put stores an object under a name. Stored objects are never modified.
	Put func(ctx context.Context, name string, body []byte) error
	// Admits reports whether a URL may be probed. A local environment admits only its own URLs.
	Admits func(base string) bool
	Now    func() time.Time
}

// Rounds probes endpoints. It caches rows between runs and uses the run number to detect that another process has run
// in the meantime.
type Rounds struct {
	Deps

	mu     sync.Mutex
	run    int64
	states map[string]*modeState // keyed by mode
}

type modeState struct {
	mode       string
	catalog    Catalog
	entries    []*entry // sorted by ID; nil if a read is needed
	summarized time.Time
}

type entry struct {
	health.Endpoint

	record health.Record
	dueAt  time.Time
}

// New returns a Rounds with the given dependencies.
func New(d Deps) *Rounds {
	return &Rounds{Deps: d, states: map[string]*modeState{"test": {mode: "test"}, "live": {mode: "live"}}}
}

// longest is the time limit of a run whose context has no deadline.
const longest = 50 * time.Second

// Run probes due endpoints and finishes before the deadline of ctx. Run adds the results to the log line in ctx. An
// error indicates an internal failure, never an endpoint's failure.
func (r *Rounds) Run(ctx context.Context) error {
	if !r.mu.TryLock() {
		return nil // a run is already in progress in this process
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

// remember sets an endpoint's record, which is zero if the endpoint was never probed.
func (w *modeState) remember(e *entry, known health.Record) {
	known.EndpointID, known.Mode = e.ID, w.mode
	e.record, e.dueAt = known, health.DueAt(known, w.catalog.Published, len(w.catalog.Endpoints))
}
