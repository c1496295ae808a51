package iam_test

import (
	"context"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/template"
)

type values = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func keyOf(pk string) values { return values{"pk": text(pk), "sk": text("1")} }

func onTables[In, Out any](call func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error),
	in In,
) step {
	return func(ctx context.Context, cfg awssdk.Config) error {
		_, err := call(dynamodb.NewFromConfig(cfg), ctx, new(in))
		return err
	}
}

func put(table, pk string) step {
	return onTables((*dynamodb.Client).PutItem, dynamodb.PutItemInput{TableName: &table, Item: keyOf(pk)})
}

func get(pk string) step {
	return onTables((*dynamodb.Client).GetItem, dynamodb.GetItemInput{TableName: new("visits"), Key: keyOf(pk)})
}

func query(index *string, condition string, pk string) step {
	return onTables((*dynamodb.Client).Query, dynamodb.QueryInput{
		TableName: new("visits"), IndexName: index, KeyConditionExpression: &condition,
		ExpressionAttributeValues: values{":p": text(pk)},
	})
}

func namedQuery(pk string) step {
	return onTables((*dynamodb.Client).Query, dynamodb.QueryInput{
		TableName: new("visits"), KeyConditionExpression: new("begins_with(#s,:s) AND (#p=:p)"),
		ExpressionAttributeNames:  map[string]string{"#p": "pk", "#s": "sk"},
		ExpressionAttributeValues: values{":p": text(pk), ":s": text("1")},
	})
}

func batchGet(tables ...string) step {
	all := map[string]types.KeysAndAttributes{}
	for _, table := range tables {
		all[table] = types.KeysAndAttributes{Keys: []values{keyOf("A-1"), keyOf("A-2")}}
	}
	return onTables((*dynamodb.Client).BatchGetItem, dynamodb.BatchGetItemInput{RequestItems: all})
}

// transact returns a step with one transaction, which puts an item into visits, deletes another one, updates notes and
// checks a condition on visits.
func transact(putKey string) step {
	return onTables((*dynamodb.Client).TransactWriteItems,
		dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: new("visits"), Item: keyOf(putKey)}},
			{Delete: &types.Delete{TableName: new("visits"), Key: keyOf("A-gone")}},
			{Update: &types.Update{
				TableName: new("notes"), Key: keyOf("A-1"), UpdateExpression: new("SET a = :a"),
				ExpressionAttributeValues: values{":a": text("a")},
			}},
			{ConditionCheck: &types.ConditionCheck{
				TableName: new("visits"), Key: keyOf("A-none"),
				ConditionExpression: new("attribute_not_exists(pk)"),
			}},
		}})
}

func one(action string, resources ...string) []template.Statement {
	all := make([]template.Statement, 0, len(resources))
	for _, resource := range resources {
		all = append(all, allow(action, resource))
	}
	return all
}

func tableOperations() map[string]operation {
	return map[string]operation{
		"PutItem": {needs: one("dynamodb:PutItem", visitsARN), do: put("visits", "a")},
		"GetItem": {needs: one("dynamodb:GetItem", visitsARN), do: get("a")},
		"UpdateItem": {
			needs: one("dynamodb:UpdateItem", visitsARN),
			do: onTables((*dynamodb.Client).UpdateItem, dynamodb.UpdateItemInput{
				TableName: new("visits"), Key: keyOf("a"), UpdateExpression: new("SET a = :a"),
				ExpressionAttributeValues: values{":a": text("a")},
			}),
		},
		"DeleteItem": {
			needs: one("dynamodb:DeleteItem", visitsARN),
			do: onTables((*dynamodb.Client).DeleteItem, dynamodb.DeleteItemInput{
				TableName: new("visits"), Key: keyOf("a"),
			}),
		},
		"Query of the table": {needs: one("dynamodb:Query", visitsARN), do: query(nil, "pk = :p", "a")},
		"Query of an index": {
			needs: one("dynamodb:Query", visitsARN+"/index/byOrg"),
			do:    query(new("byOrg"), "org = :p", "a"),
		},
		"BatchGetItem": {needs: one("dynamodb:BatchGetItem", visitsARN, notesARN), do: batchGet("visits", "notes")},
		"DescribeTable": {
			needs: one("dynamodb:DescribeTable", visitsARN),
			do:    onTables((*dynamodb.Client).DescribeTable, dynamodb.DescribeTableInput{TableName: new("visits")}),
		},
		"TransactWriteItems": {do: transact("a"), needs: []template.Statement{
			allow("dynamodb:PutItem", visitsARN), allow("dynamodb:DeleteItem", visitsARN),
			allow("dynamodb:UpdateItem", notesARN), allow("dynamodb:ConditionCheckItem", visitsARN),
		}},
	}
}

func TestTransactionIsRejectedWhenAnyActionIsDenied(t *testing.T) {
	t.Parallel()
	cloud, authority := start(t, world(
		allow("dynamodb:PutItem", visitsARN), allow("dynamodb:DeleteItem", visitsARN),
		allow("dynamodb:ConditionCheckItem", visitsARN),
	))
	wantDenied(t, cloud, authority, transact("a"), "dynamodb:UpdateItem", notesARN)
	out, err := dynamodb.NewFromConfig(cloud.Config("operator")).GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: new("visits"), Key: keyOf("a")})
	if err != nil || out.Item != nil {
		t.Errorf("got %v, %v, want no item", out, err)
	}
	if got := authority.Uses(); len(got) != 0 {
		t.Errorf("got %v, want no use of a refused transaction", got)
	}
}

func TestLeadingKeysConditionIsolatesTenants(t *testing.T) {
	t.Parallel()
	condition := map[string]map[string][]string{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": {"A-*"}}}
	own := template.Statement{
		Sid: "Own", Actions: []string{"dynamodb:*"}, Resources: []string{visitsARN, visitsARN + "/index/*"},
		Condition: condition,
	}
	notes := allow("dynamodb:UpdateItem", notesARN)
	index := visitsARN + "/index/byOrg"
	tests := map[string]struct {
		own, other       step
		action, resource string
	}{
		"GetItem":        {get("A-1"), get("B-1"), "dynamodb:GetItem", visitsARN},
		"PutItem":        {put("visits", "A-1"), put("visits", "B-1"), "dynamodb:PutItem", visitsARN},
		"Query":          {query(nil, "pk = :p", "A-1"), query(nil, "pk = :p", "B-1"), "dynamodb:Query", visitsARN},
		"Query by names": {namedQuery("A-1"), namedQuery("B-1"), "dynamodb:Query", visitsARN},
		"Query of an index": {
			query(new("byOrg"), "org = :p", "A-1"), query(new("byOrg"), "org = :p", "B-1"),
			"dynamodb:Query", index,
		},
		"TransactWriteItems": {transact("A-1"), transact("B-1"), "dynamodb:PutItem", visitsARN},
		"BatchGetItem":       {batchGet("visits"), batchGetOther, "dynamodb:BatchGetItem", visitsARN},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud, authority := start(t, world(own, notes))
			wantAllowed(t, cloud, tt.own)
			wantDenied(t, cloud, authority, tt.other, tt.action, tt.resource)
		})
	}
}

func batchGetOther(ctx context.Context, cfg awssdk.Config) error {
	return onTables((*dynamodb.Client).BatchGetItem,
		dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"visits": {Keys: []values{keyOf("A-1"), keyOf("B-2")}},
		}})(ctx, cfg)
}
