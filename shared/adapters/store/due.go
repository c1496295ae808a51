package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
)

// duePage is the maximum number of rows returned per shard. The next run, a minute later, returns any remaining rows.
const duePage = 200

// Timers reads a table's due rows: tasks, events, deliveries and notices in Work, and connections in Connection.
type Timers struct {
	DB    DB
	Table string
}

// Due lists a shard's rows that are due by the given time, oldest first. Because the index is eventually consistent, a
// row may appear late or after it has been processed.
func (s Timers) Due(ctx context.Context, shard int, before time.Time) ([]due.Item, error) {
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.Table, IndexName: aws.String("byDue"), Limit: aws.Int32(duePage),
		KeyConditionExpression:    aws.String("due_shard = :shard AND due_at <= :before"),
		ExpressionAttributeValues: item{":shard": text(shardName(shard)), ":before": moment(before)},
	})
	if err != nil {
		return nil, fmt.Errorf("query what is due: %w", err)
	}
	items := make([]due.Item, 0, len(out.Items))
	for _, attributes := range out.Items {
		row := item(attributes)
		if found, ok := parseRowKey(row.text("pk")); ok {
			found.At = row.time("due_at")
			items = append(items, found)
		}
	}
	return items, nil
}

// Postpone claims a due row for the caller by postponing its due time. It returns fault.Conflict if the row has been
// processed or claimed since it was listed.
func (s Timers) Postpone(ctx context.Context, i due.Item, until time.Time) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: rowKey(i.Tenant, i.Kind, i.ID), set: "SET due_at = :until", when: "due_at = :seen",
		values: item{":until": moment(until), ":seen": moment(i.At)},
	})
	return err
}

// ForgetFile clears the due time of a finished or failed task after its file has been deleted from the bucket.
func (s Tasks) ForgetFile(ctx context.Context, task export.Task) error {
	_, err := update(ctx, s.DB, change{
		table: s.Table, key: taskKey(task.Tenant, task.ID), set: "REMOVE due_shard, due_at",
		when: "#status <> :pending AND attribute_exists(due_at)", names: map[string]string{"#status": "status"},
		values: item{":pending": text(string(export.Pending))},
	})
	return err
}
