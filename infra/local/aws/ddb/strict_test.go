package ddb_test

import (
	"strings"
	"testing"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

// TestRequestsThatTheSDKNeverSendsAreRefused has the refusals that outside judges (infra/test/conformance) found missing.
func TestRequestsThatTheSDKNeverSendsAreRefused(t *testing.T) {
	t.Parallel()
	server := ddb.New(wire.Discard{})
	createWork(t, clientOf(server))
	const (
		invalid   = "ValidationException"
		cancelled = "TransactionCanceledException"
		key       = `{"pk":{"S":"a"},"sk":{"S":"b"}}`
	)
	for name, c := range map[string]struct{ operation, body, want string }{
		"an attribute without a name":       {"PutItem", `{"TableName":"Work","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"":{"S":"x"}}}`, invalid},
		"no table name":                     {"PutItem", `{"Item":` + key + `}`, invalid},
		"a table name that cannot be":       {"GetItem", `{"TableName":"a b","Key":` + key + `}`, invalid},
		"a description of no table":         {"DescribeTable", `{}`, invalid},
		"empty ReturnValues":                {"DeleteItem", `{"TableName":"Work","Key":` + key + `,"ReturnValues":""}`, invalid},
		"a size of a size":                  {"DeleteItem", `{"TableName":"Work","Key":` + key + `,"ConditionExpression":"size(size(pk)) = pk"}`, invalid},
		"backups of no table":               {"UpdateContinuousBackups", `{"TableName":"None","PointInTimeRecoverySpecification":{}}`, "TableNotFoundException"},
		"backups without a specification":   {"UpdateContinuousBackups", `{"TableName":"Work"}`, invalid},
		"a put without an item":             {"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Work"}}]}`, invalid},
		"a deletion without a key":          {"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"Work"}}]}`, invalid},
		"half a key in a transaction":       {"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"Work","Key":{"pk":{"S":"a"}}}}]}`, cancelled},
		"half an item in a transaction":     {"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Work","Item":{"pk":{"S":"a"}}}}]}`, cancelled},
		"a new key in a transaction":        {"TransactWriteItems", `{"TransactItems":[{"Update":{"TableName":"Work","Key":` + key + `,"UpdateExpression":"REMOVE sk"}}]}`, cancelled},
		"half a key to read":                {"TransactGetItems", `{"TransactItems":[{"Get":{"TableName":"Work","Key":{"pk":{"S":"a"}}}}]}`, cancelled},
		"an empty key in a transaction":     {"TransactWriteItems", `{"TransactItems":[{"Delete":{"TableName":"Work","Key":{"pk":{"S":"a"},"sk":{"S":""}}}}]}`, invalid},
		"a large item in a transaction":     {"TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"Work","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"x":{"S":"` + strings.Repeat("x", 400<<10) + `"}}}}]}`, invalid},
		"a large item in a batch":           {"BatchWriteItem", `{"RequestItems":{"Work":[{"PutRequest":{"Item":{"pk":{"S":"a"},"sk":{"S":"b"},"x":{"S":"` + strings.Repeat("x", 400<<10) + `"}}}}]}}`, invalid},
		"a table with an empty list of GSI": {"CreateTable", tableWith(`"BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[]`), invalid},
		"a table without capacity":          {"CreateTable", tableWith(`"ProvisionedThroughput":{"ReadCapacityUnits":0,"WriteCapacityUnits":1}`), invalid},
		"an index with capacity":            {"CreateTable", tableWith(`"BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[` + gsi(`"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`) + `]`), invalid},
		"an index without capacity":         {"CreateTable", tableWith(`"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1},"GlobalSecondaryIndexes":[` + gsi(`"Projection":{"ProjectionType":"ALL"}`) + `]`), invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, out := call(t, server, c.operation, c.body)
			if got, _ := out["__type"].(string); status != 400 || !strings.HasSuffix(got, "#"+c.want) {
				t.Errorf("got status %d and %s, want 400 and %s", status, got, c.want)
			}
		})
	}
}

func tableWith(members string) string {
	return `{"TableName":"Other","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],` + members + `}`
}

func gsi(member string) string {
	return `{"IndexName":"index","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"},` + member + `}`
}

func TestASizeCountsCharactersAsDynamoDBDoes(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, with(key("a", "b"), item{"s": str("ün😀")}))
	in := queryInput("pk = :p", item{":p": str("a"), ":n": num("4")})
	filter := "size(s) = :n"
	in.FilterExpression = &filter
	out, err := client.Query(t.Context(), in)
	if err != nil || out.Count != 1 {
		t.Errorf("got %v and %v, want the item", out, err)
	}
}

func TestASetMayHoldAnEmptyText(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	it := with(key("a", "b"), item{"s": strs("", "x")})
	put(t, client, it)
	wantItem(t, get(t, client, key("a", "b")), it)
}
