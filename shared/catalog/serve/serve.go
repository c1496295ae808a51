// Package serve owns how the catalogue's functions hold what they answer from (docs/adr/0029-serving-the-catalogue.md):
// the live snapshot of each mode with how its endpoints fare, older ones for the pages of a search, single records, and
// the addresses of the whole files. It asks for the live version seldom, never lets a request wait for a newer one, and
// keeps objects on disk while a process lives.
package serve

import (
	"context"
	"io"

	"recordbridge/shared/catalog/health"
	"recordbridge/shared/catalog/ledger"
)

// Edition is what an answer is made of: a snapshot, and the summary of how endpoints fared. The zero
// Edition is nothing at all.
type Edition struct {
	Version ledger.Version
	Health  string // version of the summary; empty: nothing is known
}

// Pointers say what is live.
type Pointers struct {
	Snapshots SnapshotPointers
	Health    HealthPointers
}

// SnapshotPointers are the rows of live snapshots (store.Catalog).
type SnapshotPointers interface {
	Pointer(ctx context.Context, mode string) (ledger.Pointer, error)
}

// HealthPointers are the rows of the latest summaries of health (store.CatalogHealth).
type HealthPointers interface {
	Pointer(ctx context.Context, mode string) (health.Pointer, error)
}

// Objects are those of the Catalog bucket (blob.Bucket). Open answers fault.NotFound.
type Objects interface {
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// live is the Edition that answers are to be made of now.
func (p Pointers) live(ctx context.Context, mode string) (Edition, error) {
	pointer, err := p.Snapshots.Pointer(ctx, mode)
	if err != nil || pointer.Live == "" {
		return Edition{}, err
	}
	summary, err := p.Health.Pointer(ctx, mode)
	return Edition{Version: pointer.Live, Health: summary.Version}, err
}
