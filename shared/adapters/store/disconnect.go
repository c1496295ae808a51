package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/export"
	"recordbridge/shared/manage/audit"
	"recordbridge/shared/manage/disconnect"
	"recordbridge/shared/webhook"
	"recordbridge/shared/words/org"
)

// Disconnections records the end of a connection that its organisation disconnects (disconnect.Store).
type Disconnections struct {
	Connections
	Tasks

	Sets Tokens
}

// Tokens implements disconnect.Store.
func (s Disconnections) Tokens(ctx context.Context, tenant org.Tenant, connectionID string) (tokens.Row, error) {
	return s.Sets.Tokens(ctx, tenant, connectionID)
}

// EndFile implements disconnect.Store. EndFile makes the file's row due immediately, so that the sweeper deletes the
// object.
func (s Disconnections) EndFile(ctx context.Context, task export.Task, now time.Time) error {
	return s.ExpireFiles(ctx, task, now, now)
}

// EndConnection implements disconnect.Store.
func (s Disconnections) EndConnection(ctx context.Context, e disconnect.Ending) error {
	c, writes := e.Connection, ending(s.Connections.Table, s.Tasks.Table, e)
	if len(e.Tokens.Sealed) > 0 {
		writes = append(writes, endTokens(s.Sets.Table, c.Tenant, c.ID, e.Tokens.Version).write())
	}
	if len(e.Upstream) > 0 {
		row := newItem(upstreamKey(c.Tenant, c.ID))
		row.setBytes("sealed", e.Upstream)
		// A condition on the connection's revision guards this write. An existing row belongs to an earlier
		// authorization that the current one replaces.
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: &s.Sets.Table, Item: row}})
	}
	return transact(ctx, s.Tasks.DB, writes...)
}

// Requests stores the immediate part of a disconnection, which a worker completes later (disconnect.RequestStore).
type Requests struct {
	Connections
	Tasks

	Chains Audit
}

// EndFile implements disconnect.RequestStore like Disconnections.EndFile.
func (s Requests) EndFile(ctx context.Context, task export.Task, now time.Time) error {
	return s.ExpireFiles(ctx, task, now, now)
}

// RequestEnd implements disconnect.RequestStore.
func (s Requests) RequestEnd(ctx context.Context, e disconnect.Ending, head audit.Head, row audit.Row) error {
	added, err := s.Chains.extending(head, row)
	if err != nil {
		return err
	}
	return transact(ctx, s.Tasks.DB, append(ending(s.Connections.Table, s.Tasks.Table, e), added...)...)
}

// ending changes a connection and fails its pending task. The connection's newest task must still be the one that the
// caller read. OpenTask checks the connection and ending checks the tasks, so the later of two concurrent transactions
// fails.
func ending(connections, work string, e disconnect.Ending) []types.TransactWriteItem {
	c := e.Connection
	newest := &types.ConditionCheck{
		TableName: &work, Key: latestKey(c.Tenant, c.ID).attributes(), ConditionExpression: aws.String(absent),
	}
	if e.LatestTask != "" {
		newest.ConditionExpression = aws.String("task_id = :latest")
		newest.ExpressionAttributeValues = item{":latest": text(e.LatestTask)}
	}
	writes := append(putConnection(connections, c), types.TransactWriteItem{ConditionCheck: newest})
	if e.Failed.ID != "" {
		writes = append(writes, failing(work, e.Failed, e.Event)...)
	}
	return writes
}

// failing returns the writes that mark a pending task as failed and store the event. The update is safe even while a
// worker processes the task, because every write by a worker requires the task to be pending.
func failing(table string, task export.Task, event webhook.Event) []types.TransactWriteItem {
	end := change{
		table: table, key: taskKey(task.Tenant, task.ID),
		set: "SET #status = :failed, failure_reason = :reason, finished_at = :finished, sent_at = :finished, " +
			"files_until = :kept, due_at = :kept, due_shard = :shard REMOVE lease_until, waiting_since",
		when: "#status = :pending", names: map[string]string{"#status": "status"},
		values: item{
			":failed": text(string(task.Status)), ":pending": text(string(export.Pending)),
			":reason": text(string(task.FailureReason)), ":finished": moment(task.FinishedAt), ":kept": moment(task.FilesUntil),
			":shard": text(shardOf(task.ID)), // a task waiting for a slot is in a different shard
		},
	}
	return []types.TransactWriteItem{end.write(), putNew(table, eventItem(event))}
}
