package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/manage/usage"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// keepUsage is the retention period of daily counts. With 25 months of data, a month can be compared with the same
// month one and two years earlier.
const keepUsage = 25 * 31 * 24 * time.Hour

// UsageDays stores daily counts.
type UsageDays Work

// SaveUsage implements usage.Days.
func (s UsageDays) SaveUsage(ctx context.Context, tenant org.Tenant, day string, c usage.Day, ends time.Time) error {
	row := newItem(usageKey(tenant, day))
	if len(c.Brands) > 0 {
		if err := row.setJSON("brands", c.Brands); err != nil {
			return err
		}
	}
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

// Usage implements usage.Days. The rows for two months fit into one query.
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

// ConnectionsByBrand implements usage.Days. The rows for 90 days fit into one query.
func (s UsageDays) ConnectionsByBrand(ctx context.Context, tenant org.Tenant,
	from string,
) (map[string]int64, error) {
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{":pk": text(usageKey(tenant, "").pk), ":from": text(from), ":to": text(lastDay)},
	})
	if err != nil {
		return nil, fmt.Errorf("query usage: %w", err)
	}
	sum := map[string]int64{}
	for _, attributes := range out.Items {
		var brands map[string]int64
		if err := item(attributes).json("brands", &brands); err != nil {
			return nil, err
		}
		for id, count := range brands {
			sum[id] += count
		}
	}
	return sum, nil
}

// lastDay sorts after every day and before the key of the most-used brands.
const lastDay = "9999-12-31"

// keepMostUsed is the retention period of a tenant's most-used brands after the last count.
const keepMostUsed = 90 * 24 * time.Hour

// SaveMostUsed implements usage.Days. The write is unconditional because usagecounter's runs never overlap.
func (s UsageDays) SaveMostUsed(ctx context.Context, tenant org.Tenant, brandIDs []string, at time.Time) error {
	row := newItem(mostUsedKey(tenant))
	if err := row.setJSON("brands", brandIDs); err != nil {
		return err
	}
	row.setInt("ttl", at.Add(keepMostUsed).Unix())
	return persist(ctx, func() error {
		_, err := s.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: row})
		return err
	})
}

// MostUsed implements serve.UsedBrands.
func (s UsageDays) MostUsed(ctx context.Context, tenant org.Tenant) ([]string, error) {
	row, err := get(ctx, s.DB, s.Table, mostUsedKey(tenant))
	if errors.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	err = row.json("brands", &ids)
	return ids, err
}
