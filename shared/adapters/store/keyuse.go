package store

import (
	"context"
	"errors"
	"time"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// UseKey implements org.KeyStore. If several instances record the same hour, only one of them writes the row.
func (s Callers) UseKey(ctx context.Context, tenant org.Tenant, keyID string, hour time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: keyUseKey(tenant, keyID),
		set: "SET used_at = :hour", when: "attribute_not_exists(used_at) OR used_at < :hour",
		values: item{":hour": moment(hour)},
	})
	if errors.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// KeyUses implements operator.CredentialRows.
func (s Callers) KeyUses(ctx context.Context, tenant org.Tenant) (map[string]time.Time, error) {
	rows, err := list(ctx, s.DB, s.Table, keyUsesPartition(tenant), "")
	if err != nil {
		return nil, err
	}
	uses := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		uses[row.text("sk")] = row.time("used_at")
	}
	return uses, nil
}
