package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"recordbridge/shared/catalog/compose"
	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/catalog/record"
)

const (
	// A publication needs an operator's approval if it removes at least goneLeast brands and more than 1/goneShare of
	// all brands, or correspondingly many endpoints.
	goneShare, goneLeast = 5, 10
	// mostHeld is the maximum number of endpoints in Question.Held.
	mostHeld = 50
)

// proposal is a catalogue that could be published.
type proposal struct {
	pointer      ledger.Pointer
	before, next record.Catalog
	report       compose.Report
	diff         ledger.Diff
	question     ledger.Question
	hosts        ledger.Waits
	waits        bool // whether an operator must decide before anything is published
}

// propose composes the accepted lists. In next, an endpoint with connected patients keeps its previous record until an
// operator approves its change.
func (p Publisher) propose(ctx context.Context, state ledger.Publication, now time.Time) (proposal, error) {
	pointer, err := p.Ledger.Pointer(ctx, state.Mode)
	if err != nil {
		return proposal{}, fmt.Errorf("read pointer: %w", err)
	}
	out := proposal{pointer: pointer}
	if out.before, err = p.live(ctx, state.Mode, pointer.Live); err != nil {
		return out, err
	}
	lists, err := p.Lists.Lists(ctx, state.Mode)
	if err != nil {
		return out, err
	}
	said, err := p.Ledger.Overrides(ctx, state.Mode)
	if err != nil {
		return out, fmt.Errorf("read overrides: %w", err)
	}
	overrides := make([]compose.Override, 0, len(said))
	for _, o := range said {
		overrides = append(overrides, compose.Override{Kind: compose.OverrideKind(o.Kind), ID: o.ID, Value: o.Value})
	}
	out.next, out.report = p.Compose(compose.Input{
		Mode: state.Mode, Before: out.before, Lists: elsewhere(p.Own, lists), Overrides: overrides,
		Platform: p.knows(state.Mode), Domain: p.Domain, Now: now,
	})
	out.hosts = waitsOf(out.report.Waiting, state.Waits, now)
	held, err := p.held(ctx, state.Mode, out.before, out.next)
	if err != nil {
		return out, err
	}
	out.diff = compare(out.before, out.next)
	out.question = questionOf(out, held, now)
	if out.question.ID == "" || out.question.ID == state.Approved {
		out.question = ledger.Question{}
		return out, nil
	}
	if out.question.ID == state.Question.ID {
		out.question.Asked = state.Question.Asked
	}
	out.waits = out.question.Whole
	out.next.Endpoints = maps.Clone(out.next.Endpoints) // may be shared with the result of Compose
	for _, h := range held {
		out.next.Endpoints[h.EndpointID] = out.before.Endpoints[h.EndpointID]
	}
	return out, nil
}

// held returns the connected endpoints whose URL or platform would change, because tokens would then go to a different
// server or be used differently.
func (p Publisher) held(ctx context.Context, mode string, before, next record.Catalog) ([]ledger.Held, error) {
	moved := map[string]bool{}
	var all []ledger.Held
	for _, id := range slices.Sorted(maps.Keys(next.Endpoints)) {
		was, is := before.Endpoints[id], next.Endpoints[id]
		if was.ID == "" || was.RemovedAt != nil || is.RemovedAt != nil {
			continue
		}
		switch {
		case was.FHIRBase != is.FHIRBase:
			all = append(all, ledger.Held{EndpointID: id, Name: is.Name, What: "address", From: was.FHIRBase, To: is.FHIRBase})
		case was.PlatformType != is.PlatformType:
			all = append(all, ledger.Held{
				EndpointID: id, Name: is.Name, What: "platform_type", From: was.PlatformType,
				To: is.PlatformType,
			})
		default:
			continue
		}
		moved[id] = true
	}
	if len(moved) == 0 {
		return nil, nil
	}
	connected, err := p.Connected.ConnectedAt(ctx, mode, moved)
	if err != nil {
		return nil, fmt.Errorf("look for connections: %w", err)
	}
	return slices.DeleteFunc(all, func(h ledger.Held) bool { return !connected[h.EndpointID] }), nil
}

// questionOf returns the question that an operator must answer. The question's ID is empty if no decision is needed.
// Otherwise, it is derived from the removed and changed records.
func questionOf(out proposal, held []ledger.Held, now time.Time) ledger.Question {
	q := ledger.Question{
		Asked: now, Diff: out.diff, Held: held[:min(len(held), mostHeld)],
		More: max(0, len(held)-mostHeld),
	}
	sum := sha256.New()
	for _, kind := range []struct {
		name    string
		changes ledger.Changes
		gone    []string
	}{
		{"brands", out.diff.Brands, gone(out.before.Brands, out.next.Brands, out.next)},
		{"endpoints", out.diff.Endpoints, gone(out.before.Endpoints, out.next.Endpoints, out.next)},
	} {
		if len(kind.gone) >= goneLeast && len(kind.gone)*goneShare > kind.changes.Before {
			q.Whole = true
			q.Because = append(q.Because, fmt.Sprintf("%d of %d %s would go", len(kind.gone), kind.changes.Before, kind.name))
			fmt.Fprintln(sum, kind.name, kind.gone)
		}
	}
	for _, h := range held {
		fmt.Fprintf(sum, "%s %q %q\n", h.EndpointID, h.From, h.To)
	}
	if len(held) > 0 {
		q.Because = append(q.Because, fmt.Sprintf("%d endpoints with connections would become others", len(held)))
	}
	if len(q.Because) > 0 {
		q.ID = hex.EncodeToString(sum.Sum(nil)[:8])
	}
	return q
}
