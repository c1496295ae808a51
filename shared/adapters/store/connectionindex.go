package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/connect/connection"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// findConnection returns the write that creates or updates a connection's index row. The index row lists the connection
// by its status (byFilter), endpoint (byOrg), brand (byExternal) and portal (byDue). An unhealthy connection's own row
// lists it by its cause. A connection's institution and status change only when a patient connects or the connection
// ends.
func findConnection(table string, c connection.Connection) types.TransactWriteItem {
	order := text(orderText(c.CreatedAt, c.ID))
	row := item{"org_order": order, "filter_list": text(foundList(c.Tenant, connection.ByStatus, string(c.Status)))}
	for name, of := range map[string]connection.Property{
		"org_list":      {By: connection.ByEndpoint, Value: c.EndpointID},
		"external_list": {By: connection.ByBrand, Value: c.BrandID},
		"due_shard":     {By: connection.ByPortal, Value: c.PortalID},
	} {
		if of.Value != "" {
			row[name] = text(foundList(c.Tenant, of.By, of.Value))
		}
	}
	if c.PortalID != "" {
		row["due_at"] = order
	}
	// A new connection is newer than all others, so all connections created after it are also indexed.
	row.setFlag("all_newer", c.Rev == 0)
	return putFound(table, connectionFoundKey(c.Tenant, c.ID), row)
}

// putFound returns the write that sets an index row's lists and keeps its flag all_newer.
func putFound(table string, k key, row item) types.TransactWriteItem {
	values, sets := item{}, make([]string, 0, len(row))
	for _, name := range slices.Sorted(maps.Keys(row)) {
		sets = append(sets, name+" = :"+name)
		values[":"+name] = row[name]
	}
	var gone []string
	for _, name := range []string{"due_at", "due_shard", "external_list", "org_list"} {
		if row[name] == nil {
			gone = append(gone, name)
		}
	}
	set := "SET " + strings.Join(sets, ", ")
	if len(gone) > 0 {
		set += " REMOVE " + strings.Join(gone, ", ")
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &table, Key: k.attributes(), UpdateExpression: &set, ExpressionAttributeValues: values,
	}}
}

// ConnectionsWith implements operator.ConnectionRows.
func (s Connections) ConnectionsWith(ctx context.Context, tenant org.Tenant, with connection.Property,
	before string, limit int,
) ([]string, bool, error) {
	of := index{s.Table, "byFilter", "filter_list", "org_order"}
	switch with.By {
	case connection.ByEndpoint:
		of = index{s.Table, "byOrg", "org_list", "org_order"}
	case connection.ByBrand:
		of = index{s.Table, "byExternal", "external_list", "org_order"}
	case connection.ByPortal:
		of = index{s.Table, "byDue", "due_shard", "due_at"}
	}
	return placesIn(ctx, s.DB, of, foundList(tenant, with.By, with.Value), before, limit)
}

// AreConnectionsIndexed implements operator.ConnectionRows. Release 0.1.0 created connections without index rows.
func (s Connections) AreConnectionsIndexed(ctx context.Context, tenant org.Tenant) (bool, error) {
	page, err := s.page(ctx, tenant, 1, nil)
	if err != nil || len(page.Items) == 0 {
		return err == nil, err
	}
	_, id, _ := strings.Cut(item(page.Items[0]).text("org_order"), "#")
	row, err := get(ctx, s.DB, s.Table, connectionFoundKey(tenant, id))
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return row.flag("all_newer"), err
}

// IndexConnection implements operator.ConnectionIndexer.
func (s Connections) IndexConnection(ctx context.Context, tenant org.Tenant, id string) error {
	c, err := s.Connection(ctx, tenant, id)
	if err != nil {
		return err
	}
	found := findConnection(s.Table, c)
	*found.Update.UpdateExpression = "SET all_newer = :yes, " + strings.TrimPrefix(*found.Update.UpdateExpression, "SET ")
	found.Update.ExpressionAttributeValues[":yes"] = &types.AttributeValueMemberBOOL{Value: true}
	guard := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &s.Table, Key: connectionKey(tenant, id).attributes(), ConditionExpression: aws.String("rev = :rev"),
		ExpressionAttributeValues: item{":rev": number(c.Rev)},
	}}
	if list := connectionItem(c)["filter_list"]; list != nil {
		guard = change{
			table: s.Table, key: connectionKey(tenant, id), set: "SET filter_list = :cause", when: "rev = :rev",
			values: item{":cause": list, ":rev": number(c.Rev)},
		}.write()
	}
	return transact(ctx, s.DB, guard, found)
}
