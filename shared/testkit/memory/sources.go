package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/fault"
)

// Sources keeps published lists, as store.Catalog. The zero value has none.
type Sources struct {
	mu   sync.Mutex
	rows map[string]intake.Row
}

// Sources implements intake.Rows.
func (s *Sources) Sources(context.Context) ([]intake.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.rows), func(a, b intake.Row) int { return cmp.Compare(a.Source.ID, b.Source.ID) }), nil
}

// Source implements intake.Rows.
func (s *Sources) Source(_ context.Context, id string) (intake.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, known := s.rows[id]
	if !known {
		return row, fault.Missing("no source")
	}
	return row, nil
}

// SaveSource implements intake.Rows.
func (s *Sources) SaveSource(_ context.Context, row intake.Row) (intake.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[row.Source.ID].Rev != row.Rev {
		return row, fault.Stale()
	}
	row.Rev++
	put(&s.rows, row.Source.ID, row)
	return row, nil
}

// RemoveSource is as store.Catalog's.
func (s *Sources) RemoveSource(_ context.Context, row intake.Row) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row.Rev == 0 || s.rows[row.Source.ID].Rev != row.Rev {
		return fault.Stale()
	}
	delete(s.rows, row.Source.ID)
	return nil
}
