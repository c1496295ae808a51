package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/fault"
	"recordbridge/shared/org"
	"recordbridge/shared/smart/platform"
)

// SetSource makes a source, or changes one as change does: what was read of it stays. Errors are fault.Invalid and fault.Conflict.
func (o Catalog) SetSource(ctx context.Context, id string, change func(*intake.Source)) (intake.Row, error) {
	row, err := o.deps.Catalog.Rows.Source(ctx, id)
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
		return row, refused("A source stays in its mode, and so does all that is made of it. Make another one.")
	}
	row.State.Due = o.deps.Now().UTC()
	if row, err = o.deps.Catalog.Rows.SaveSource(ctx, row); err != nil {
		return row, changed("source", err)
	}
	return row, o.record(ctx, org.Tenant{}, "catalog.source_set", id)
}

// Sources lists the sources, of one mode or with an empty one all.
func (o Catalog) Sources(ctx context.Context, mode string) ([]intake.Row, error) {
	all, err := o.deps.Catalog.Rows.Sources(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	return slices.DeleteFunc(all, func(r intake.Row) bool { return mode != "" && r.Source.Mode != mode }), nil
}

// Source shows one; fault.NotFound.
func (o Catalog) Source(ctx context.Context, id string) (intake.Row, error) {
	row, err := o.deps.Catalog.Rows.Source(ctx, id)
	if errors.Is(err, fault.NotFound) {
		return row, fault.Missing(fmt.Sprintf("There is no source %q.", id)).About("id")
	}
	if err != nil {
		return row, fmt.Errorf("read source: %w", err)
	}
	return row, nil
}

// RemoveSource removes a source: what it alone has said goes with the next publication, which asks when that is much. Errors are
// fault.NotFound and fault.Conflict.
func (o Catalog) RemoveSource(ctx context.Context, id string) error {
	row, err := o.Source(ctx, id)
	if err != nil {
		return err
	}
	if err := o.deps.Catalog.Rows.RemoveSource(ctx, row); err != nil {
		return changed("source", err)
	}
	if err := o.deps.Catalog.Intake.Forget(ctx, row); err != nil {
		return err
	}
	return o.record(ctx, org.Tenant{}, "catalog.source_removed", id)
}

// Import reads a source now: its list, or with nil what it publishes. Errors are fault.Invalid for a source that has no address,
// fault.NotFound and fault.Conflict. A list that cannot be used is no error: the row tells.
func (o Catalog) Import(ctx context.Context, id string, list io.Reader) (intake.Row, intake.Outcome, error) {
	row, err := o.Source(ctx, id)
	if err != nil {
		return row, "", err
	}
	var outcome intake.Outcome
	switch {
	case list != nil:
		row, outcome, err = o.deps.Catalog.Intake.Take(ctx, row, list)
	case row.Source.URL == "" || o.deps.Catalog.Intake.Lists == nil:
		return row, "", fault.BadRequest("The source has no address. Give its list: -file.").About("id")
	default:
		row, outcome, err = o.deps.Catalog.Intake.Refresh(ctx, row)
	}
	if err != nil {
		return row, outcome, changed("source", err)
	}
	return row, outcome, o.record(ctx, org.Tenant{}, "catalog.imported", id+" "+string(outcome))
}

// ApproveSource accepts what a source waits with. Errors are fault.NotFound when nothing does, fault.Conflict.
func (o Catalog) ApproveSource(ctx context.Context, id string) (intake.Row, error) {
	row, err := o.Source(ctx, id)
	if err != nil {
		return row, err
	}
	if row, err = o.deps.Catalog.Intake.Approve(ctx, row); errors.Is(err, fault.NotFound) {
		return row, err
	}
	if err != nil {
		return row, changed("source", err)
	}
	return row, o.record(ctx, org.Tenant{}, "catalog.source_approved", id)
}
