// Package publish releases a catalogue to patients (docs/adr/0023-the-catalogue.md). The package composes the accepted
// lists and requests an operator's approval if too many records would be removed. A publication writes the snapshot,
// updates the endpoints' rows, moves the pointer, and suspends removed endpoints. The next run continues an interrupted
// one. Publishing does not rewrite unchanged data.
package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/weburl"
)

// Publisher publishes the catalogue of one mode at a time. If two runs publish at once, one returns fault.Conflict.
type Publisher struct {
	Ledger         Ledger
	Snapshots      snapshot.Snapshots
	Lists          Lists
	Endpoints      EndpointRows
	Connected      Connected
	DiscoveredURLs DiscoveryReader
	Compose        func(compose.Input) (record.Catalog, compose.Report)
	Platform       func(base string) string // returns the platform of a FHIR server's host; empty if unknown
	Domain         func(host string) string // returns a host name's registrable domain
	BaseURL        string                   // this service's base URL; only the sandbox is below it
	Own            weburl.Own               // the service's own URLs, which websites and logos must not use
	Now            func() time.Time
}

// Ledger stores the state of publications. store.Catalog implements it.
type Ledger interface {
	Pointer(ctx context.Context, mode string) (ledger.Pointer, error)
	MovePointer(ctx context.Context, seen, next ledger.Pointer) error
	Publication(ctx context.Context, mode string) (ledger.Publication, error)
	SavePublication(ctx context.Context, p ledger.Publication) (ledger.Publication, error)
	Overrides(ctx context.Context, mode string) ([]ledger.Override, error)
}

// Lists provides the lists that make up the catalogue.
type Lists interface {
	// Lists returns the accepted listings of all of a mode's sources, and operators' own institutions.
	Lists(ctx context.Context, mode string) ([]compose.List, error)
}

// Connected finds the endpoints at which patients are connected.
type Connected interface {
	// ConnectedAt returns the given endpoints that have a connection in the mode, in any state. An implementation may
	// read all of the mode's connections.
	ConnectedAt(ctx context.Context, mode string, endpoints map[string]bool) (map[string]bool, error)
}

// Outcome is the result of Publish, Preview or Rollback.
type Outcome struct {
	Live      ledger.Version
	Published bool            // whether this run published a version or completed an earlier publication
	Paused    bool            // whether the run was skipped because a rollback has paused the mode
	Diff      ledger.Diff     // difference from the live version, including changes that await approval
	Question  ledger.Question // question that an operator must answer
	Rows      Counts
	Pinned    int // number of endpoints pinned for the first time
	Composed  compose.Report
}

// Publish composes a mode's catalogue from the accepted lists, and publishes it if it differs from the live version.
// Publish first completes an interrupted publication. It returns fault.Conflict if another run is publishing, and
// errors from its dependencies. After an error, the next run continues the publication.
func (p Publisher) Publish(ctx context.Context, mode string) (Outcome, error) {
	state, out, err := p.finish(ctx, mode)
	if err != nil || state.Paused {
		out.Paused = state.Paused
		return out, err
	}
	if state, out.Pinned, err = p.pin(ctx, state); err != nil {
		return out, err
	}
	now := p.Now().UTC().Truncate(time.Second)
	proposed, err := p.propose(ctx, state, now)
	if err != nil {
		return out, err
	}
	out.Diff, out.Composed, out.Question = proposed.diff, proposed.report, proposed.question
	if state, err = p.ask(ctx, state, proposed); err != nil || proposed.waits {
		return out, err
	}
	version, err := snapshot.Name(proposed.next, now)
	if err != nil || version.Hash() == proposed.pointer.Live.Hash() {
		return out, err
	}
	state.From, state.To, state.Phase, state.Done = proposed.pointer.Live, version, ledger.Writing, 0
	if state, err = p.Ledger.SavePublication(ctx, state); err != nil {
		return out, fmt.Errorf("begin to publish: %w", err)
	}
	if _, err = p.Snapshots.Write(ctx, mode, proposed.next, now); err != nil {
		return out, err
	}
	state.Phase = ledger.Rows
	if state, err = p.Ledger.SavePublication(ctx, state); err != nil {
		return out, fmt.Errorf("publish %s: %w", version, err)
	}
	out.Rows, err = p.run(ctx, state, proposed.before, proposed.next)
	out.Live, out.Published = version, err == nil
	return out, err
}

// Preview returns the outcome that Publish would have, and changes nothing. Preview ignores an interrupted publication.
func (p Publisher) Preview(ctx context.Context, mode string) (Outcome, error) {
	state, err := p.Ledger.Publication(ctx, mode)
	if err != nil {
		return Outcome{}, fmt.Errorf("read publication: %w", err)
	}
	proposed, err := p.propose(ctx, state, p.Now().UTC().Truncate(time.Second))
	return Outcome{
		Live: proposed.pointer.Live, Diff: proposed.diff, Question: proposed.question,
		Composed: proposed.report, Paused: state.Paused,
	}, err
}

// Rollback makes an earlier version live again and restores its endpoints' rows. The lists still contain the changes
// that are rolled back, so it also pauses publishing until an operator resumes it. The error is fault.NotFound if the
// version's objects are gone, or fault.Conflict if another run is publishing.
func (p Publisher) Rollback(ctx context.Context, mode string, to ledger.Version) (Outcome, error) {
	state, out, err := p.finish(ctx, mode)
	if err != nil {
		return out, err
	}
	pointer, err := p.Ledger.Pointer(ctx, mode)
	if err != nil {
		return out, fmt.Errorf("read pointer: %w", err)
	}
	if out.Live = pointer.Live; !kept(pointer, to) {
		return out, fault.Missing(fmt.Sprintf("Version %s of the %s catalogue doesn't exist, so you can't roll back "+
			"to it.", to, mode))
	}
	before, err := p.Snapshots.Catalog(ctx, mode, pointer.Live)
	if err != nil {
		return out, err
	}
	next, err := p.Snapshots.Catalog(ctx, mode, to)
	if err != nil {
		return out, err
	}
	state.From, state.To, state.Phase, state.Done, state.Paused = pointer.Live, to, ledger.Rows, 0, true
	state.Question, state.Approved = ledger.Question{}, ""
	if state, err = p.Ledger.SavePublication(ctx, state); err != nil {
		return out, fmt.Errorf("begin the rollback: %w", err)
	}
	out.Diff = compare(before, next)
	out.Rows, err = p.run(ctx, state, before, next)
	out.Live, out.Published = to, err == nil
	return out, err
}

// finish completes an interrupted publication. If its snapshot is incomplete, the publication is abandoned.
func (p Publisher) finish(ctx context.Context, mode string) (ledger.Publication, Outcome, error) {
	state, err := p.Ledger.Publication(ctx, mode)
	if err != nil {
		return state, Outcome{}, fmt.Errorf("read publication: %w", err)
	}
	pointer, err := p.Ledger.Pointer(ctx, mode)
	if err != nil {
		return state, Outcome{}, fmt.Errorf("read pointer: %w", err)
	}
	out := Outcome{Live: pointer.Live}
	switch {
	case state.To == "":
		return state, out, nil
	case state.Phase == ledger.Writing:
		if err = p.Snapshots.Delete(ctx, mode, state.To); err != nil {
			return state, out, err
		}
		state, err = p.end(ctx, state)
		return state, out, err
	}
	before, err := p.live(ctx, mode, state.From)
	if err != nil {
		return state, out, err
	}
	next, err := p.Snapshots.Catalog(ctx, mode, state.To)
	if err != nil {
		return state, out, err
	}
	if out.Rows, err = p.run(ctx, state, before, next); err != nil {
		return state, out, err
	}
	out.Live, out.Published = state.To, true
	state, err = p.Ledger.Publication(ctx, mode)
	return state, out, err
}

// live returns a version's catalogue, which is empty if v is empty.
func (p Publisher) live(ctx context.Context, mode string, v ledger.Version) (record.Catalog, error) {
	if v == "" {
		return record.Catalog{}, nil
	}
	return p.Snapshots.Catalog(ctx, mode, v)
}

// ask stores the question and the waiting servers if they have changed.
func (p Publisher) ask(ctx context.Context, state ledger.Publication, of proposal) (ledger.Publication, error) {
	if state.Question.ID == of.question.ID && state.Waits.ID == of.hosts.ID {
		return state, nil
	}
	state.Question, state.Waits = of.question, of.hosts
	saved, err := p.Ledger.SavePublication(ctx, state)
	if err != nil {
		return state, fmt.Errorf("ask an operator: %w", err)
	}
	return saved, nil
}

func (p Publisher) end(ctx context.Context, state ledger.Publication) (ledger.Publication, error) {
	state.From, state.To, state.Phase, state.Done = "", "", "", 0
	saved, err := p.Ledger.SavePublication(ctx, state)
	if err != nil {
		return state, fmt.Errorf("end the publication: %w", err)
	}
	return saved, nil
}

// run continues a publication from its stored phase and position.
func (p Publisher) run(ctx context.Context, state ledger.Publication, before, next record.Catalog) (Counts, error) {
	w := rowWriter{Publisher: p, state: state}
	plan := planOf(state.Mode, before, next)
	if w.state.Phase == ledger.Rows {
		if err := w.write(ctx, plan.offered); err != nil {
			return w.counts, err
		}
		if err := p.move(ctx, w.state); err != nil {
			return w.counts, err
		}
		w.state.Phase, w.state.Done = ledger.Suspending, 0
		if err := w.save(ctx); err != nil {
			return w.counts, err
		}
	}
	if err := w.write(ctx, plan.gone); err != nil {
		return w.counts, err
	}
	w.state.Approved = "" // An approval applies to one publication.
	_, err := p.end(ctx, w.state)
	return w.counts, err
}

// errMoved means that another run has moved the pointer.
var errMoved = errors.New("another version has become live")

// move makes the publication's version live.
func (p Publisher) move(ctx context.Context, state ledger.Publication) error {
	seen, err := p.Ledger.Pointer(ctx, state.Mode)
	if err != nil {
		return fmt.Errorf("read pointer: %w", err)
	}
	switch seen.Live {
	case state.To:
		return nil // The version was live before the interruption.
	case state.From:
	default:
		return fault.Stale().Because(errMoved)
	}
	next, old := advance(seen, state.To, p.Now())
	for _, v := range old {
		if err := p.Snapshots.Delete(ctx, state.Mode, v); err != nil {
			return err
		}
	}
	if err := p.Ledger.MovePointer(ctx, seen, next); err != nil {
		return fmt.Errorf("move the pointer to %s: %w", state.To, err)
	}
	return nil
}
