package waits_test

import (
	"context"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/test/tables"
	"recordbridge/infra/testkit/expect"
	"recordbridge/infra/testkit/memory"
	"recordbridge/shared/adapters/store"
	"recordbridge/shared/export"
)

// pending returns a pending export whose creation time is offset from now by after.
func pending(id, connectionID string, after time.Duration) export.Task {
	return export.Task{
		ID: id, Tenant: tenant, ConnectionID: connectionID, Status: export.Pending,
		CreatedAt: time.Now().Add(after),
	}
}

func each(do func(task export.Task)) {
	do(pending(taskID, "c0000000-0000-4000-8000-000000000001", 0))
	do(pending(besideID, "c0000000-0000-4000-8000-000000000002", time.Millisecond))
}

type inMemory struct{ *memory.Tasks }

func (inMemory) ForgetFile(context.Context, export.Task) error { return nil }

// remembered returns an in-memory store that contains the two exports.
func remembered(t *testing.T) rows {
	t.Helper()
	m := memory.NewTasks()
	each(m.Put)
	return inMemory{m}
}

// table implements rows with a table in the embedded AWS.
type table struct {
	store.Register
	store.Places
	store.Timers
}

// stored returns rows that contain the two exports and are stored in the embedded DynamoDB.
func stored(t *testing.T) rows {
	t.Helper()
	made := tables.New(t)
	connections := made.Name("ConnectionTable")
	work := store.Work{DB: made.DB, Table: made.Name("WorkTable")}
	found := table{
		store.NewRegister(work, store.Connections{DB: made.DB, Table: connections}), store.Places(work), store.Timers(work),
	}
	each(func(task export.Task) {
		_, err := made.DB.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: awssdk.String(connections),
			Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: tenant.Key() + "#CONN#" + task.ConnectionID},
				"sk": &types.AttributeValueMemberS{Value: "META"}, "status": &types.AttributeValueMemberS{Value: "authorized"},
			},
		})
		expect.NoError(t, err)
		expect.NoError(t, found.OpenTask(t.Context(), task, ""))
	})
	return found
}
