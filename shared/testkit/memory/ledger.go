package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"recordbridge/shared/catalog/ledger"
	"recordbridge/shared/fault"
)

// Ledger keeps what is written down of the catalogue, as store.Catalog. The zero value is that of a new stack.
type Ledger struct {
	mu           sync.Mutex
	pointers     map[string]ledger.Pointer
	publications map[string]ledger.Publication
	overrides    map[string][]ledger.Override
}

// Pointer is as store.Catalog's.
func (l *Ledger) Pointer(_ context.Context, mode string) (ledger.Pointer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pointers[mode]
	p.Mode, p.Kept = mode, slices.Clone(p.Kept)
	return p, nil
}

// MovePointer is as store.Catalog's.
func (l *Ledger) MovePointer(ctx context.Context, seen, next ledger.Pointer) error {
	if err := over(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pointers[seen.Mode].Rev != seen.Rev {
		return fault.Stale()
	}
	next.Rev, next.Kept = seen.Rev+1, slices.Clone(next.Kept)
	put(&l.pointers, seen.Mode, next)
	return nil
}

// Publication is as store.Catalog's.
func (l *Ledger) Publication(_ context.Context, mode string) (ledger.Publication, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.publications[mode]
	p.Mode = mode
	return p, nil
}

// SavePublication is as store.Catalog's.
func (l *Ledger) SavePublication(ctx context.Context, p ledger.Publication) (ledger.Publication, error) {
	if err := over(ctx); err != nil {
		return p, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.publications[p.Mode].Rev != p.Rev {
		return p, fault.Stale()
	}
	p.Rev++
	put(&l.publications, p.Mode, p)
	return p, nil
}

// Overrides is as store.Catalog's.
func (l *Ledger) Overrides(_ context.Context, mode string) ([]ledger.Override, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]ledger.Override{}, l.overrides[mode]...), nil
}

// PutOverride is as store.Catalog's.
func (l *Ledger) PutOverride(_ context.Context, mode string, o ledger.Override) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Clone(l.overrides[mode])
	if slices.Contains(all, o) {
		return fault.Stale()
	}
	all = slices.DeleteFunc(all, func(x ledger.Override) bool { return samePlace(x, o) })
	all = append(all, o)
	slices.SortFunc(all, func(x, y ledger.Override) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.ID, y.ID), cmp.Compare(x.Value, y.Value))
	})
	put(&l.overrides, mode, all)
	return nil
}

// DropOverride is as store.Catalog's.
func (l *Ledger) DropOverride(_ context.Context, mode string, o ledger.Override) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.overrides[mode]
	left := slices.DeleteFunc(slices.Clone(before), func(x ledger.Override) bool { return samePlace(x, o) })
	if len(left) == len(before) {
		return fault.Stale()
	}
	put(&l.overrides, mode, left)
	return nil
}

// samePlace reports whether an override takes the place of another.
func samePlace(x, o ledger.Override) bool {
	return x.Kind == o.Kind && x.ID == o.ID && (o.Kind != ledger.Alias && o.Kind != ledger.Portal || x.Value == o.Value)
}
