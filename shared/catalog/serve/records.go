package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/record"
	"recordbridge/shared/catalog/snapshot"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/weburl"
)

// Ranges reads parts of objects (blob.Bucket). It returns up to length bytes from an offset, and the object's total
// size. It returns fault.NotFound if the object does not exist.
type Ranges interface {
	Range(ctx context.Context, key string, from, length int64) (part []byte, size int64, err error)
}

// Records reads individual records from the live version. It estimates a record's position in the file, so Lambda
// functions need not load the entire catalogue. Create a Records with NewRecords.
type Records struct {
	ranges Ranges
	files  Files
	live   *holder[known]
	own    weburl.Own
}

// known holds the cached data of an Edition.
type known struct {
	successors map[string]string
	health     health.Summary
	sizes      *sizes
}

// sizes caches the file sizes for a version.
type sizes struct{ known sync.Map }

func (s *sizes) of(ctx context.Context, ranges Ranges, key string) (int64, error) {
	if size, ok := s.known.Load(key); ok {
		return size.(int64), nil //nolint:forcetypeassert // stored below
	}
	_, size, err := ranges.Range(ctx, key, 0, 1)
	if err == nil {
		s.known.Store(key, size)
	}
	return size, err
}

// NewRecords returns a Records that omits links pointing to own.
func NewRecords(pointers Pointers, files Files, ranges Ranges, own weburl.Own, now func() time.Time) *Records {
	r := &Records{ranges: ranges, files: files, own: own}
	r.live = newHolder(pointers, now, r.load)
	return r
}

// Brand returns a mode's brand with the given ID, or the brand it was merged into. It returns fault.NotFound if the
// brand does not exist.
func (r *Records) Brand(ctx context.Context, mode, id string) (record.Brand, error) {
	b, err := find[record.Brand](ctx, r, mode, snapshot.Brands, id)
	show(r.own, &b.BrandWebsite, &b.LogoURI, &b.LogoLicense)
	b.Aliases, b.Locations, b.PortalIDs, b.BrandIDs, b.NPIs = list(b.Aliases), list(b.Locations), list(b.PortalIDs),
		list(b.BrandIDs), list(b.NPIs)
	return b, err
}

// Portal returns a mode's portal with the given ID, or the portal it was merged into. It returns fault.NotFound if the
// portal does not exist.
func (r *Records) Portal(ctx context.Context, mode, id string) (record.Portal, error) {
	p, err := find[record.Portal](ctx, r, mode, snapshot.Portals, id)
	show(r.own, &p.PortalWebsite, &p.LogoURI)
	p.EndpointIDs = list(p.EndpointIDs)
	return p, err
}

// Endpoint returns a mode's endpoint with the given ID, or the endpoint it was merged into. The result includes the
// endpoint's health, but not its URL. Endpoint returns fault.NotFound if the endpoint does not exist.
func (r *Records) Endpoint(ctx context.Context, mode, id string) (record.Endpoint, health.Status, error) {
	e, err := find[record.Endpoint](ctx, r, mode, snapshot.Endpoints, id)
	if err != nil {
		return e, health.Status{}, err
	}
	_, held, err := r.live.Live(ctx, mode)
	return e, held.health.Of(e.ID), err
}

// list makes JSON encode an empty list as [], never null.
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

func find[T any](ctx context.Context, r *Records, mode, file, id string) (T, error) {
	var found T
	edition, held, err := r.live.Live(ctx, mode)
	if err != nil {
		return found, err
	}
	missing := fault.Missing("Record not found.")
	if edition.Version == "" {
		return found, missing
	}
	if successor, isMerged := held.successors[id]; isMerged {
		id = successor
	}
	key := snapshot.Key(mode, edition.Version, file)
	size, err := held.sizes.of(ctx, r.ranges, key)
	if err != nil {
		return found, err
	}
	text, err := findLine(ctx, r.ranges, key, size, id)
	if err != nil {
		return found, err
	}
	if text == nil {
		return found, missing
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return found, fmt.Errorf("read a record of the catalogue: %w", err)
	}
	return found, nil
}

func (r *Records) load(ctx context.Context, mode string, e Edition) (known, error) {
	held := known{sizes: &sizes{}}
	err := r.files.Read(ctx, snapshot.Merged, snapshot.Key(mode, e.Version, snapshot.Merged), func(from io.Reader) error {
		if err := json.NewDecoder(from).Decode(&held.successors); err != nil {
			return fmt.Errorf("read what was merged: %w", err)
		}
		return nil
	})
	if err != nil {
		return known{}, err
	}
	held.health, err = r.files.health(ctx, mode, e)
	return held, err
}
