package records

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"recordbridge/shared/words/org"
)

// Folders lists and deletes objects (blob.Folders).
type Folders interface {
	Removals

	List(ctx context.Context, prefix string) ([]string, error)
}

// Ender removes what is cached of connections that end: by their names, since a token set knows nothing of the
// writings before its own.
type Ender struct {
	Objects Folders
}

// DeleteAll removes all that is cached of a connection. It may be repeated.
func (e Ender) DeleteAll(ctx context.Context, tenant org.Tenant, connectionID string) error {
	return e.DeleteUntil(ctx, tenant, connectionID, math.MaxInt64)
}

// DeleteUntil removes what is cached of a connection's authorizations up to a generation. What its patient
// authorises meanwhile stays.
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
