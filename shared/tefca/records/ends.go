package records

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"recordbridge/shared/words/org"
)

// Folders lists and deletes objects; blob.Folders implements it.
type Folders interface {
	Removals

	List(ctx context.Context, prefix string) ([]string, error)
}

// Ender deletes the stored records of ended connections. It finds the records by listing object names, because a token
// set doesn't refer to records from earlier writes.
type Ender struct {
	Objects Folders
}

// DeleteAll deletes all of a connection's stored records. DeleteAll is idempotent.
func (e Ender) DeleteAll(ctx context.Context, tenant org.Tenant, connectionID string) error {
	return e.DeleteUntil(ctx, tenant, connectionID, math.MaxInt64)
}

// DeleteUntil deletes a connection's stored records of authorisations up to and including the given generation.
func (e Ender) DeleteUntil(ctx context.Context, tenant org.Tenant, connectionID string, generation int64) error {
	folder := folderOf(tenant, connectionID)
	keys, err := e.Objects.List(ctx, folder)
	if err != nil {
		return fmt.Errorf("list records: %w", err)
	}
	for _, key := range keys {
		of, _, _ := strings.Cut(strings.TrimPrefix(key, folder), "/")
		if written, err := strconv.ParseInt(of, 10, 64); err == nil && written > generation {
			continue
		}
		if err := e.Objects.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete records: %w", err)
		}
	}
	return nil
}
