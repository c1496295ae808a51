package wiring

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/shared/adapters/store"
	"recordbridge/shared/manage/operator"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/ids"
	"recordbridge/shared/words/org"
)

// Restore makes what token sets are restored with, from a table of which DynamoDB has restored the stack's tokens. It
// needs permissions on both tables that an operator does not have from day to day (docs/operations.md, "Break-glass").
func Restore(ctx context.Context, cfg aws.Config, outputs map[string]string, from string) (operator.TokenRows, error) {
	switch outputs["TokensTable"] {
	case "":
		return nil, errors.New("the stack has no output TokensTable")
	case from:
		return nil, errors.New("that is the stack's own table, not the restored one")
	}
	db := store.NewClient(cfg)
	rows := store.Restore{
		Connections: store.Connections{DB: db, Table: outputs["ConnectionTable"]},
		Events:      store.Events{DB: db, Table: outputs["WorkTable"]},
		Tokens:      store.Tokens{DB: db, Table: outputs["TokensTable"]},
		From:        store.Tokens{DB: db, Table: from},
	}
	if _, err := rows.Restored(ctx, org.Tenant{}, ids.Random()); err != nil && !errors.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("read the restored table: %w", err) // before anything is put back
	}
	return rows, nil
}
