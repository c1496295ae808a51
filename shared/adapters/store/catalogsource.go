package store

import (
	"context"

	"recordbridge/shared/catalog/intake"
)

// Sources implements intake.Rows.
func (s Catalog) Sources(ctx context.Context) ([]intake.Row, error) {
	rows, err := list(ctx, s.DB, s.Table, sourcesPartition, "")
	if err != nil {
		return nil, err
	}
	all := make([]intake.Row, 0, len(rows))
	for _, row := range rows {
		source, err := sourceOf(row)
		if err != nil {
			return nil, err
		}
		all = append(all, source)
	}
	return all, nil
}

// Source implements intake.Rows.
func (s Catalog) Source(ctx context.Context, id string) (intake.Row, error) {
	row, err := get(ctx, s.DB, s.Table, sourceKey(id))
	if err != nil {
		return intake.Row{}, err
	}
	return sourceOf(row)
}

func sourceOf(row item) (intake.Row, error) {
	source := intake.Row{Rev: row.int("rev")}
	if err := row.json("source", &source.Source); err != nil {
		return source, err
	}
	return source, row.json("state", &source.State)
}

// SaveSource implements intake.Rows.
func (s Catalog) SaveSource(ctx context.Context, source intake.Row) (intake.Row, error) {
	row := newItem(sourceKey(source.Source.ID))
	if err := row.setJSON("source", source.Source); err != nil {
		return source, err
	}
	if err := row.setJSON("state", source.State); err != nil {
		return source, err
	}
	err := s.saveOver(ctx, row, source.Rev)
	if err == nil {
		source.Rev++
	}
	return source, err
}

// RemoveSource removes revision source.Rev of a source. It returns fault.Conflict if the stored revision differs.
func (s Catalog) RemoveSource(ctx context.Context, source intake.Row) error {
	_, err := remove(ctx, s.DB, change{
		table: s.Table, key: sourceKey(source.Source.ID), when: "rev = :rev", values: item{":rev": number(source.Rev)},
	})
	return err
}
