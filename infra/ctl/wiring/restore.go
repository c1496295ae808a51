package wiring

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"recordbridge/shared/operator"
	"recordbridge/shared/store"
)

// Restore makes what token sets are restored with, from a table of which DynamoDB has restored the stack's tokens. It needs
// permissions on both tables that an operator does not have from day to day (docs/operations.md, "Break-glass").
func Restore(cfg aws.Config, outputs map[string]string, from string) (operator.TokenRows, error) {
	if outputs["TokensTable"] == "" {
		return nil, fmt.Errorf("the stack has no output TokensTable")
	}
	db := store.NewClient(cfg)
	return store.Restore{
		Connections: store.Connections{DB: db, Table: outputs["ConnectionTable"]},
		Work:        store.Work{DB: db, Table: outputs["WorkTable"]},
		Tokens:      store.Tokens{DB: db, Table: outputs["TokensTable"]},
		From:        store.Tokens{DB: db, Table: from},
	}, nil
}
