package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/connect/platform"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// CatalogSources reads and changes the published lists from which the catalogue is built.
type CatalogSources struct {
	rows   SourceRows
	intake intake.Intake
	by     Journal
}

// SourceRows stores the catalogue's sources.
type SourceRows interface {
	intake.Rows
	// RemoveSource removes a source. It returns fault.Conflict if the source has changed since it was read.
	RemoveSource(ctx context.Context, source intake.Row) error
}

// SourceLister lists the catalogue's sources.
type SourceLister interface {
	// Sources returns the sources of all modes.
	Sources(ctx context.Context) ([]intake.Row, error)
}

// NewCatalogSources returns a CatalogSources. The lists argument must use the same rows as the returned CatalogSources.
func NewCatalogSources(rows SourceRows, lists intake.Intake, by Journal) CatalogSources {
	return CatalogSources{rows: rows, intake: lists, by: by}
}

// Set creates a source or, if the source exists, applies change to it. An existing source keeps its imported content.
// The error is fault.Invalid or fault.Conflict.
func (o CatalogSources) Set(ctx context.Context, id string, change func(*intake.Source)) (intake.Row, error) {
	row, err := o.rows.Source(ctx, id)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return row, fmt.Errorf("read source: %w", err)
	}
	mode := row.Source.Mode
	row.Source.ID = id
	change(&row.Source)
	if err = row.Source.Check(); err != nil {
		return row, err
	}
	if _, err = platform.Find(row.Source.Platform); row.Source.Platform != "" && err != nil {
		return row, fault.BadRequest(err.Error()).About("platform")
	}
	if row.Rev > 0 && row.Source.Mode != mode {
		return row, refused("A source's mode, like that of its data, can't change. Create another source.")
	}
	row.State.Due = o.by.now().UTC()
	if row, err = o.rows.SaveSource(ctx, row); err != nil {
		return row, changed("source", err)
	}
	return row, o.by.record(ctx, org.Tenant{}, "catalog.source_set", id)
}

// List returns the sources of a single mode, or of all modes if mode is empty.
func (o CatalogSources) List(ctx context.Context, mode string) ([]intake.Row, error) {
	return sourcesOf(ctx, o.rows, mode)
}

// Show reads a source. It returns fault.NotFound if the source does not exist.
func (o CatalogSources) Show(ctx context.Context, id string) (intake.Row, error) {
	row, err := o.rows.Source(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return row, fault.Missing(fmt.Sprintf("Source %q not found.", id)).About("id")
	}
	if err != nil {
		return row, fmt.Errorf("read source: %w", err)
	}
	return row, nil
}

// Remove removes a source. The next publication drops content that only this source supplied. If the dropped content is
// a large part of the catalogue, the publication needs approval. The error is fault.NotFound or fault.Conflict.
func (o CatalogSources) Remove(ctx context.Context, id string) error {
	row, err := o.Show(ctx, id)
	if err != nil {
		return err
	}
	if err := o.rows.RemoveSource(ctx, row); err != nil {
		return changed("source", err)
	}
	if err := o.intake.Forget(ctx, row); err != nil {
		return err
	}
	return o.by.record(ctx, org.Tenant{}, "catalog.source_removed", id)
}

// Import imports a source immediately, from list or, if list is nil, from the source's URL. The error is fault.Invalid
// if the source has no URL, fault.NotFound or fault.Conflict. An unusable list is not an error. The returned row
// reports an unusable list.
func (o CatalogSources) Import(ctx context.Context, id string, list io.Reader) (intake.Row, intake.Outcome, error) {
	row, err := o.Show(ctx, id)
	if err != nil {
		return row, "", err
	}
	var outcome intake.Outcome
	switch {
	case list != nil:
		row, outcome, err = o.intake.Take(ctx, row, list)
	case row.Source.URL == "" || o.intake.Lists == nil:
		return row, "", fault.BadRequest("The source has no URL. Provide its list with -file.").About("id")
	default:
		row, outcome, err = o.intake.Refresh(ctx, row)
	}
	if err != nil {
		return row, outcome, changed("source", err)
	}
	return row, outcome, o.by.record(ctx, org.Tenant{}, "catalog.imported", id+" "+string(outcome))
}

// Approve accepts source content that is waiting for approval. It returns fault.NotFound if no content is waiting. It
// can also return fault.Conflict.
func (o CatalogSources) Approve(ctx context.Context, id string) (intake.Row, error) {
	row, err := o.Show(ctx, id)
	if err != nil {
		return row, err
	}
	if row, err = o.intake.Approve(ctx, row); errors.Is(err, fault.NotFound) {
		return row, err
	}
	if err != nil {
		return row, changed("source", err)
	}
	return row, o.by.record(ctx, org.Tenant{}, "catalog.source_approved", id)
}

// sourcesOf returns the sources of a mode, or of all modes if mode is empty.
func sourcesOf(ctx context.Context, rows SourceLister, mode string) ([]intake.Row, error) {
	all, err := rows.Sources(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	return slices.DeleteFunc(all, func(r intake.Row) bool { return mode != "" && r.Source.Mode != mode }), nil
}
