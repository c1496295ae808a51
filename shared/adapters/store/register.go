package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
)

// Register opens export tasks. Register checks each task's connection in the same transaction.
type Register struct {
	Tasks
	Events

	connections Connections
}

// NewRegister returns a Register that uses the Work and Connection tables.
func NewRegister(work Work, connections Connections) Register {
	return Register{Tasks: Tasks(work), Events: Events(work), connections: connections}
}

// OpenTask implements export.TaskStore.
func (s Register) OpenTask(ctx context.Context, task export.Task, previous string) error {
	row := newItem(taskKey(task.Tenant, task.ID))
	row.setText("connection_id", task.ConnectionID)
	row.setText("previous", previous)
	row.setText("status", string(task.Status))
	if err := row.setJSON("options", task.Options); err != nil {
		return err
	}
	row.setTime("created_at", task.CreatedAt)
	row.setInt("ttl", task.CreatedAt.Add(keepTasks).Unix())
	row["generation"] = number(0)
	row["setbacks"] = number(0)
	row["resends"] = number(0)
	row.setDue(task.ID, task.CreatedAt.Add(sweepAfter))
	row.listed(task.Tenant, "TASK", task.ID, task.CreatedAt)

	pointer := newItem(latestKey(task.Tenant, task.ConnectionID))
	pointer.setText("task_id", task.ID)
	latest := &types.Put{TableName: &s.Tasks.Table, Item: pointer, ConditionExpression: aws.String(absent)}
	if previous != "" {
		latest.ConditionExpression = aws.String("task_id = :previous")
		latest.ExpressionAttributeValues = item{":previous": text(previous)}
	}
	authorized := &types.ConditionCheck{
		TableName: &s.connections.Table, Key: connectionKey(task.Tenant, task.ConnectionID).attributes(),
		ConditionExpression:       aws.String("#status = :authorized"),
		ExpressionAttributeNames:  map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{":authorized": text(string(connection.Authorized))},
	}
	return transact(ctx, s.Tasks.DB,
		putNew(s.Tasks.Table, row), types.TransactWriteItem{Put: latest}, types.TransactWriteItem{ConditionCheck: authorized})
}
