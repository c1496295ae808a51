// Package rounds probes the endpoints of the live catalogue that are due, a part of them in every run, and keeps what
// it finds (docs/adr/0030-health-of-endpoints.md). It owns which endpoint is asked when, how many at once and that no
// host is asked by two at a time; what a finding means is package health's, how a server is asked package smart's.
// Losing a run loses nothing but its findings: what was due still is.
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

// Catalogs knows what is live.
type Catalogs interface {
	// Live is the live catalogue of a mode; the zero Catalog before anything is published. Where known is its version, it
	// may leave out the endpoints.
	Live(ctx context.Context, mode, known string) (Catalog, error)
}

// Catalog is what has to be probed of one mode.
type Catalog struct {
	Version   string
	Published time.Time
	Endpoints []health.Endpoint // active ones
}

// Records keep what is known of endpoints, and who is at work.
type Records interface {
	// Begin claims the rounds until a time and counts them; fault.Conflict while they are somebody else's.
	Begin(ctx context.Context, now, until time.Time) (run int64, err error)
	// Records are all of a mode.
	Records(ctx context.Context, mode string) ([]health.Record, error)
	// SaveRecord replaces revision r.Rev, 0 for one that is new; fault.Conflict when that has changed.
	SaveRecord(ctx context.Context, r health.Record) error
	// Forget removes what is known of an endpoint, as it was read, and where its discovery leads; fault.Conflict.
	Forget(ctx context.Context, r health.Record) error
	// SaveSighting keeps where a discovery leads, in place of what was kept of the endpoint.
	SaveSighting(ctx context.Context, s health.Sighting) error
	// Pointer names the summary in use; a zero one but for the mode when there is none.
	Pointer(ctx context.Context, mode string) (health.Pointer, error)
	// MovePointer replaces revision p.Rev of it; fault.Conflict.
	MovePointer(ctx context.Context, p health.Pointer) error
}

// Prober asks a server whether patients could sign in, within the time of ctx.
type Prober interface {
	Probe(ctx context.Context, e health.Endpoint) health.Finding
}

// Observer knows what real connections meet at token endpoints, by the names that a Prober gives them.
type Observer interface {
	// Failing reports whether the last several token requests, in a row, met trouble of the server's.
	Failing(ctx context.Context, token string) (bool, error)
	// Answered counts the token requests since then that got a token or a definite refusal, of the last hour at most.
	Answered(ctx context.Context, token string, since time.Time) (int, error)
}

// Deps are what Rounds work with. All are needed.
type Deps struct {
	Catalogs Catalogs
	Records  Records
	Prober   Prober
	Observer Observer
	// Put stores an object that is never changed.
	Put func(ctx context.Context, name string, body []byte) error
	// Admits tells which addresses may be asked; on a laptop none but its own.
	Admits func(base string) bool
	Now    func() time.Time
}

// Rounds remember, between runs of a process, what they have read. Whether somebody else has been at work since, the
// number of the run tells.
type Rounds struct {
	Deps

	mu    sync.Mutex
	run   int64
	wards map[string]*ward // by mode
}

// ward is one mode as it is remembered.
type ward struct {
	mode       string
	catalog    Catalog
	entries    []*entry // by id; nil: have to be read
	summarized time.Time
}

// entry is one endpoint with what is known of it.
type entry struct {
	health.Endpoint

	record health.Record
	dueAt  time.Time
}

// New makes Rounds.
func New(d Deps) *Rounds {
	return &Rounds{Deps: d, wards: map[string]*ward{"test": {mode: "test"}, "live": {mode: "live"}}}
}

// longest is a run without a deadline.
const longest = 50 * time.Second

// Run probes what is due and is over before the deadline of ctx. What it did, it tells on the log line of ctx. The
// error is trouble of ours, of which an endpoint hears nothing.
func (r *Rounds) Run(ctx context.Context) error {
	if !r.mu.TryLock() {
		return nil // this process is at it
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
		r.run = 0 // what is remembered may not be what is stored
	}
	return err
}

func (r *Rounds) forget() {
	for _, w := range r.wards {
		w.entries = nil
	}
}

func (r *Rounds) readCatalogs(ctx context.Context) (endpoints int, err error) {
	for _, w := range r.wards {
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
	for _, w := range r.wards {
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

// remember puts the record of an endpoint to it; a zero one where nobody has probed it.
func (w *ward) remember(e *entry, known health.Record) {
	known.EndpointID, known.Mode = e.ID, w.mode
	e.record, e.dueAt = known, health.DueAt(known, w.catalog.Published, len(w.catalog.Endpoints))
}
