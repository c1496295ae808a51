package store

import (
	"context"
	"errors"
	"strings"

	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/words/fault"
)

// Catalog stores the catalogue's records other than its snapshots: the live version, the publication status, the
// operator's overrides, and the sources with their status.
type Catalog struct {
	DB    DB
	Table string
}

// Pointer returns a mode's live version, or the mode's zero Pointer if the mode has not been published.
func (s Catalog) Pointer(ctx context.Context, mode string) (ledger.Pointer, error) {
	row, err := get(ctx, s.DB, s.Table, pointerKey(mode))
	if errors.Is(err, fault.NotFound) {
		return ledger.Pointer{Mode: mode}, nil
	}
	if err != nil {
		return ledger.Pointer{}, err
	}
	p := ledger.Pointer{
		Mode: mode, Live: ledger.Version(row.text("live")), MovedAt: row.time("moved_at"),
		Rev: row.int("rev"),
	}
	return p, row.json("kept", &p.Kept)
}

// MovePointer replaces seen with next. It returns fault.Conflict if the stored Pointer differs from seen.
func (s Catalog) MovePointer(ctx context.Context, seen, next ledger.Pointer) error {
	row := newItem(pointerKey(seen.Mode))
	row.setText("live", string(next.Live))
	row.setTime("moved_at", next.MovedAt)
	if err := row.setJSON("kept", next.Kept); err != nil {
		return err
	}
	return s.saveOver(ctx, row, seen.Rev)
}

// Publication returns the status of a mode's publication, or the mode's zero Publication if the mode has not been
// published.
func (s Catalog) Publication(ctx context.Context, mode string) (ledger.Publication, error) {
	row, err := get(ctx, s.DB, s.Table, publicationKey(mode))
	if errors.Is(err, fault.NotFound) {
		return ledger.Publication{Mode: mode}, nil
	}
	if err != nil {
		return ledger.Publication{}, err
	}
	p := ledger.Publication{
		Mode: mode, From: ledger.Version(row.text("from_version")), To: ledger.Version(row.text("to_version")),
		Phase: ledger.Phase(row.text("phase")),
		Done:  int(row.int("done")), Approved: row.text("approved"), Paused: row.flag("paused"),
		PinnedThrough: row.time("sighted"),
		Rev:           row.int("rev"),
	}
	return p, errors.Join(row.json("question", &p.Question), row.json("waits", &p.Waits))
}

// SavePublication replaces revision p.Rev of a publication and returns the stored row. It returns fault.Conflict if the
// stored revision differs.
func (s Catalog) SavePublication(ctx context.Context, p ledger.Publication) (ledger.Publication, error) {
	row := newItem(publicationKey(p.Mode))
	row.setText("from_version", string(p.From))
	row.setText("to_version", string(p.To))
	row.setText("phase", string(p.Phase))
	row.setInt("done", int64(p.Done))
	row.setText("approved", p.Approved)
	row.setFlag("paused", p.Paused)
	row.setTime("sighted", p.PinnedThrough)
	if p.Question.ID != "" {
		if err := row.setJSON("question", p.Question); err != nil {
			return p, err
		}
	}
	if p.Waits.ID != "" {
		if err := row.setJSON("waits", p.Waits); err != nil {
			return p, err
		}
	}
	err := s.saveOver(ctx, row, p.Rev)
	if err == nil {
		p.Rev++
	}
	return p, err
}

// Overrides lists the operator's overrides for a mode, ordered by kind and ID.
func (s Catalog) Overrides(ctx context.Context, mode string) ([]ledger.Override, error) {
	rows, err := list(ctx, s.DB, s.Table, overridesPartition(mode), "")
	if err != nil {
		return nil, err
	}
	all := make([]ledger.Override, 0, len(rows))
	for _, row := range rows {
		kind, _, _ := strings.Cut(row.text("sk"), "#")
		all = append(all, ledger.Override{Kind: ledger.Kind(kind), ID: row.text("id"), Value: row.text("value")})
	}
	return all, nil
}

// PutOverride stores an override, replacing any override of the same kind for the record. Aliases and portals are
// exceptions: a record may have several of each. PutOverride returns fault.Conflict if the same override is already
// stored.
func (s Catalog) PutOverride(ctx context.Context, mode string, o ledger.Override) error {
	values := item{":id": text(o.ID), ":value": text(o.Value)}
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: overrideKey(mode, o), set: "SET id = :id, #value = :value",
		when:  absent + " OR #value <> :value",
		names: map[string]string{"#value": "value"}, values: values,
	})
	return err
}

// DropOverride removes an override. It returns fault.Conflict if the override does not exist.
func (s Catalog) DropOverride(ctx context.Context, mode string, o ledger.Override) error {
	_, err := remove(ctx, s.DB, change{table: s.Table, key: overrideKey(mode, o), when: "attribute_exists(pk)"})
	return err
}

// saveOver creates a row if rev is 0; otherwise it replaces revision rev. It returns fault.Conflict if the stored
// revision differs.
func (s Catalog) saveOver(ctx context.Context, row item, rev int64) error {
	if rev > 0 {
		return replace(ctx, s.DB, s.Table, row, rev)
	}
	row.setInt("rev", 1)
	return create(ctx, s.DB, s.Table, row)
}
