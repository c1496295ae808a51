package records

import (
	"context"
	"fmt"
	"maps"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/org"
)

// Removals deletes stored objects (blob.Bucket, blob.Folders). Deleting a nonexistent object is not an error.
type Removals interface {
	Delete(ctx context.Context, key string) error
}

// Remover deletes the records that a tokens.Records describes, for functions that may not list objects.
type Remover struct {
	Objects Removals
}

// Delete deletes all chunks described by held. Delete is idempotent.
func (r Remover) Delete(ctx context.Context, tenant org.Tenant, connectionID string, held tokens.Records) error {
	parts := map[string]int{"": held.Chunks}
	maps.Copy(parts, held.Fixtures)
	for name, chunks := range parts {
		at := place{tenant, connectionID, held, name}
		for n := range chunks {
			if err := r.Objects.Delete(ctx, at.key(n)); err != nil {
				return fmt.Errorf("delete records: %w", err)
			}
		}
	}
	return nil
}
