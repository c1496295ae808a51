package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/export"
	"recordbridge/shared/platform/due"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

// The following methods return rows for operators (package operator). The methods also read damaged rows and report
// which attributes are damaged.

// ConnectionsBefore implements operator.ConnectionRows.
func (s Connections) ConnectionsBefore(ctx context.Context, tenant org.Tenant, before string,
	limit int,
) ([]string, bool, error) {
	return placesBefore(ctx, s.DB, s.Table, listKey(tenant, kindName(due.Connection)), before, limit)
}

// ConnectionsOfBefore implements operator.ConnectionRows.
func (s Connections) ConnectionsOfBefore(ctx context.Context, tenant org.Tenant, external secret.Mark, before string,
	limit int,
) ([]string, bool, error) {
	return placesIn(ctx, s.DB, index{s.Table, "byExternal", "external_list", "org_order"}, externalList(tenant, external),
		before, limit)
}

// InspectConnection implements operator.ConnectionRows.
func (s Connections) InspectConnection(ctx context.Context, tenant org.Tenant,
	id string,
) (connection.Connection, []fault.Spot, error) {
	row, err := get(ctx, s.DB, s.Table, connectionKey(tenant, id))
	if err != nil {
		return connection.Connection{}, nil, err
	}
	damaged := row.unreadable("status", "endpoint_id", "created_at", "consent_expires_at", "refresh_at", "refused_at",
		"renewed_at", "ended_at",
		"upstream_until", "due_at")
	return connectionOf(row, tenant, id), damaged, nil
}

// TasksBefore implements operator.ExportRows.
func (s Tasks) TasksBefore(ctx context.Context, tenant org.Tenant, before string, limit int) ([]string, bool, error) {
	return placesBefore(ctx, s.DB, s.Table, listKey(tenant, kindName(due.Task)), before, limit)
}

// InspectTask implements operator.ExportRows.
func (s Tasks) InspectTask(ctx context.Context, tenant org.Tenant,
	id string,
) (export.Task, time.Time, []fault.Spot, error) {
	row, err := get(ctx, s.DB, s.Table, taskKey(tenant, id))
	if err != nil {
		return export.Task{}, time.Time{}, nil, err
	}
	damaged := row.unreadable("status", "connection_id", "created_at", "finished_at", "files_until", "lease_until",
		"due_at", "waiting_since")
	task, failures := readTask(row, tenant, id)
	for _, failure := range failures {
		damaged = append(damaged, fault.SpotOf(failure))
	}
	return task, row.time("due_at"), damaged, nil
}

// unreadable lists the attributes of the wrong type. The list includes attributes whose names denote a time but whose
// values are not valid times.
func (r item) unreadable(names ...string) []fault.Spot {
	var damaged []fault.Spot
	for _, name := range names {
		value, isThere := r[name]
		if !isThere {
			continue
		}
		_, isText := value.(*types.AttributeValueMemberS)
		isTime := strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "_until") || strings.HasSuffix(name, "_since")
		if !isText || isTime && r.time(name).IsZero() {
			damaged = append(damaged, fault.Spot{Operation: "decode", Row: r.kind(), Attribute: name})
		}
	}
	return damaged
}

// placesBefore calls placesIn for the byOrg index.
func placesBefore(ctx context.Context, db DB, table, list, before string,
	limit int,
) (places []string, more bool, err error) {
	return placesIn(ctx, db, index{table, "byOrg", "org_list", "org_order"}, list, before, limit)
}

// index is a table's index, with the attributes that contain an entry's list and its cursor in the list.
type index struct{ table, name, list, order string }

// placesIn returns the cursors of the rows in an index's list, newest first. A cursor consists of the row's creation
// time and ID, as in org_order. If before is not empty, the list starts after that cursor. The index is eventually
// consistent.
func placesIn(ctx context.Context, db DB, of index, list, before string,
	limit int,
) (places []string, more bool, err error) {
	in := &dynamodb.QueryInput{
		TableName: &of.table, IndexName: &of.name, ScanIndexForward: aws.Bool(false),
		//nolint:gosec // G115: limits are small. One more tells whether there are more.
		Limit:                     aws.Int32(int32(limit) + 1),
		KeyConditionExpression:    aws.String(of.list + " = :list"),
		ExpressionAttributeValues: item{":list": text(list)},
	}
	if len(list) > longestKey {
		return nil, false, nil
	}
	if before != "" {
		in.KeyConditionExpression = aws.String(of.list + " = :list AND " + of.order + " < :before")
		in.ExpressionAttributeValues[":before"] = text(before)
	}
	out, err := db.Query(ctx, in)
	if err != nil {
		return nil, false, fmt.Errorf("list rows: %w", err)
	}
	for _, listed := range out.Items[:min(limit, len(out.Items))] {
		places = append(places, item(listed).text(of.order))
	}
	return places, len(places) > 0 && (len(out.Items) > limit || len(out.LastEvaluatedKey) > 0), nil
}
