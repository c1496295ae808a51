// Package serve provides the data for the catalogue's functions (docs/adr/0029-serving-the-catalogue.md). It provides
// each mode's live snapshot with endpoint health, older snapshots for later search pages, individual records, and the
// URLs of complete files. The live version is checked periodically, and no request waits for a newer one. Objects are
// cached on disk for the life of the process.
package serve

import (
	"context"
	"io"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
)

// Edition identifies the data behind a response: a snapshot and its endpoints' health summary. The zero Edition means
// that there is no data.
type Edition struct {
	Version ledger.Version
	Health  string // version of the health summary; empty if unknown
}

// Pointers reads the live versions.
type Pointers struct {
	Snapshots SnapshotPointers
	Health    HealthPointers
}

// SnapshotPointers reads the rows of live snapshots (store.Catalog).
type SnapshotPointers interface {
	Pointer(ctx context.Context, mode string) (ledger.Pointer, error)
}

// HealthPointers reads the rows of the latest health summaries (store.CatalogHealth).
type HealthPointers interface {
	Pointer(ctx context.Context, mode string) (health.Pointer, error)
}

// Objects reads objects from the Catalog bucket; blob.Bucket implements it. Open returns fault.NotFound if the object
// does not exist.
type Objects interface {
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// live returns the Edition that responses should use now.
func (p Pointers) live(ctx context.Context, mode string) (Edition, error) {
	pointer, err := p.Snapshots.Pointer(ctx, mode)
	if err != nil || pointer.Live == "" {
		return Edition{}, err
	}
	summary, err := p.Health.Pointer(ctx, mode)
	return Edition{Version: pointer.Live, Health: summary.Version}, err
}
