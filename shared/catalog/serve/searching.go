package serve

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
	"weak"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/search"
	"recordbridge/shared/catalog/served"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// maxOlder is the maximum number of older indexes in memory, for both modes together.
const maxOlder = 2

// Searchable holds the data for searches. A search of the zero Searchable has no hits.
type Searchable struct {
	Index  *search.Index // search index; nil if nothing has been published
	Health health.Summary
	Demote func(brandID string) search.Demotion
}

// Catalogue provides the data for searches: each mode's live Edition, and earlier Editions that cursors refer to.
// Create a Catalogue with NewCatalogue.
type Catalogue struct {
	files Files
	live  *holder[Searchable]

	lock  sync.Mutex // held while an older index is loaded, so only one is loaded at a time
	older []older    // older indexes, most recently used first

	indexesLock sync.Mutex
	indexes     map[string]weak.Pointer[search.Index] // all indexes in memory, by key
}

type older struct {
	mode    string
	edition Edition
	value   Searchable
}

// NewCatalogue returns a Catalogue.
func NewCatalogue(pointers Pointers, files Files, now func() time.Time) *Catalogue {
	c := &Catalogue{files: files, indexes: map[string]weak.Pointer[search.Index]{}}
	c.live = newHolder(pointers, now, c.load)
	return c
}

// warmTime is the timeout of Warm.
const warmTime = 5 * time.Second

// Warm loads both modes' live versions at startup, when Lambda provides more processor time. The next request retries a
// failed load.
func (c *Catalogue) Warm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	for _, mode := range []org.Mode{org.Test, org.Live} {
		_, _, _ = c.live.Live(ctx, string(mode))
	}
}

// Live returns the data for new searches in a mode. It returns fault.Unavailable if the data can't be read.
func (c *Catalogue) Live(ctx context.Context, mode string) (Edition, Searchable, error) {
	return c.live.Live(ctx, mode)
}

// At returns the data of an earlier search in a mode, or fault.Gone if it no longer exists.
func (c *Catalogue) At(ctx context.Context, mode string, e Edition) (Searchable, error) {
	edition, value, err := c.live.Live(ctx, mode)
	if err != nil || edition == e {
		return value, err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	for i, o := range c.older {
		if o.mode == mode && o.edition == e {
			c.older = slices.Insert(slices.Delete(c.older, i, i+1), 0, o)
			return o.value, nil
		}
	}
	c.older = c.older[:min(len(c.older), maxOlder-1)]
	value, err = c.load(ctx, mode, e)
	if errors.Is(err, fault.NotFound) {
		return Searchable{}, fault.Gone
	}
	if err == nil {
		c.older = slices.Insert(c.older, 0, older{mode, e, value})
	}
	return value, err
}

// load loads the data of a mode's Edition. An index already in memory is reused, because endpoint health changes far
// more often than the index.
func (c *Catalogue) load(ctx context.Context, mode string, e Edition) (Searchable, error) {
	key := snapshot.Key(mode, e.Version, snapshot.Index)
	value := Searchable{Index: c.known(key)}
	if value.Index == nil {
		err := c.files.Read(ctx, snapshot.Index, key, func(r io.Reader) error {
			return read(&value.Index, search.Read, r)
		})
		if err != nil {
			return Searchable{}, err
		}
		c.remember(key, value.Index)
	}
	if e.Health == "" {
		return value, nil
	}
	summary, err := c.files.health(ctx, mode, e)
	if err != nil {
		return Searchable{}, err
	}
	var brands served.Map
	err = c.files.Read(ctx, snapshot.Served, snapshot.Key(mode, e.Version, snapshot.Served), func(r io.Reader) error {
		return read(&brands, served.Read, r)
	})
	value.Health, value.Demote = summary, demotions(brands, summary)
	return value, err
}

// known returns a version's index if it is still in memory, for example because a search uses it.
func (c *Catalogue) known(key string) *search.Index {
	c.indexesLock.Lock()
	defer c.indexesLock.Unlock()
	return c.indexes[key].Value()
}

func (c *Catalogue) remember(key string, index *search.Index) {
	c.indexesLock.Lock()
	defer c.indexesLock.Unlock()
	maps.DeleteFunc(c.indexes, func(_ string, w weak.Pointer[search.Index]) bool { return w.Value() == nil })
	c.indexes[key] = weak.Make(index)
}

func read[T any](into *T, with func(io.Reader) (T, error), from io.Reader) error {
	value, err := with(from)
	*into = value
	return err
}
