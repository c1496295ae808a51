package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/manage/usage"
	"recordbridge/shared/words/org"
)

// keepUsage is the retention of daily counts: 25 months, so that a month can be compared with the same month one and
// two years earlier.
const keepUsage = 25 * 31 * 24 * time.Hour

// UsageDays stores daily counts.
type UsageDays Work

// SaveUsage implements usage.Days.
func (s UsageDays) SaveUsage(ctx context.Context, tenant org.Tenant, day string, c usage.Counts, ends time.Time) error {
	row := newItem(usageKey(tenant, day))
	row.setInt("connections", c.Connections)
	row.setInt("rejections", c.Rejections)
	row.setInt("revocations", c.Revocations)
	row.setInt("exports_succeeded", c.ExportsSucceeded)
	row.setInt("exports_failed", c.ExportsFailed)
	row.setInt("inquiries", c.Inquiries)
	row.setInt("deliveries", c.Deliveries)
	row.setInt("ttl", ends.Add(keepUsage).Unix())
	return create(ctx, s.DB, s.Table, row)
}

// Usage implements usage.Days. Two months of rows easily fit into one query.
func (s UsageDays) Usage(ctx context.Context, tenant org.Tenant, from, to string) (map[string]usage.Counts, error) {
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{":pk": text(usageKey(tenant, "").pk), ":from": text(from), ":to": text(to)},
	})
	if err != nil {
		return nil, fmt.Errorf("query usage: %w", err)
	}
	days := make(map[string]usage.Counts, len(out.Items))
	for _, attributes := range out.Items {
		row := item(attributes)
		days[row.text("sk")] = usage.Counts{
			Connections: row.int("connections"), Rejections: row.int("rejections"), Revocations: row.int("revocations"),
			ExportsSucceeded: row.int("exports_succeeded"), ExportsFailed: row.int("exports_failed"),
			Inquiries: row.int("inquiries"), Deliveries: row.int("deliveries"),
		}
	}
	return days, nil
}
