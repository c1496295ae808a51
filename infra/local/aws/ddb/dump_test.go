package ddb_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/document"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

// restarted simulates two restarts. The first server replays the journal; the second, which is returned, replays the
// first server's dump.
func restarted(t *rapid.T, journal *memoryJournal) *ddb.Server {
	t.Helper()
	first, second := ddb.New(wire.Discard{}), ddb.New(wire.Discard{})
	for _, record := range journal.records {
		if err := first.Replay(record); err != nil {
			t.Fatal(err)
		}
	}
	err := first.Dump(func(record any) error {
		raw, err := json.Marshal(record)
		if err != nil {
			return err
		}
		return second.Replay(raw)
	})
	if err != nil {
		t.Fatal(err)
	}
	return second
}

func someValue(t *rapid.T, depth int) types.AttributeValue {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return num(strconv.Itoa(rapid.IntRange(-99, 99).Draw(t, "n")) + "." +
			strconv.Itoa(rapid.IntRange(0, 99).Draw(t, "fraction")))
	case 1:
		return blob(rapid.StringN(1, 4, 4).Draw(t, "b"))
	case 2:
		return yes(rapid.Bool().Draw(t, "bool"))
	case 3:
		return null()
	case 4:
		return strs(rapid.SliceOfNDistinct(rapid.StringN(1, 3, 9), 1, 3, rapid.ID).Draw(t, "set")...)
	case 5, 6:
		return str(rapid.StringN(0, 5, 20).Draw(t, "s"))
	case 7:
		return list(someValue(t, depth-1), someValue(t, depth-1))
	default:
		return fields(item{"inner": someValue(t, depth-1)})
	}
}

func someItem(t *rapid.T) item {
	it := someKey(t)
	it["org"] = str(rapid.SampledFrom([]string{"o1", "o2"}).Draw(t, "org"))
	it["created"] = str(strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "created")))
	if rapid.Bool().Draw(t, "has due") {
		it["shard"], it["due"] = str("o1"), num(strconv.Itoa(rapid.IntRange(0, 30).Draw(t, "due")))
	}
	it["free"] = someValue(t, 2)
	return it
}

func someKey(t *rapid.T) item {
	return key(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "pk"), strconv.Itoa(rapid.IntRange(0, 4).Draw(t, "sk")))
}

// act makes random changes, including invalid ones.
func act(t *rapid.T, client *dynamodb.Client) {
	ctx, name := t.Context(), aws.String(table)
	switch rapid.IntRange(0, 5).Draw(t, "act") {
	case 0, 1:
		_, _ = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: someItem(t)})
	case 2:
		_, _ = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name, Key: someKey(t)})
	case 3:
		_, _ = client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: name, Key: someKey(t), UpdateExpression: aws.String("SET free = :v REMOVE due"),
			ExpressionAttributeValues: item{":v": someValue(t, 1)},
		})
	case 4:
		_ = transaction(t, client, rapid.IntRange(0, 2).Draw(t, "token"))
		<-time.After(time.Duration(rapid.IntRange(0, 6).Draw(t, "minutes")) * time.Minute)
	default:
		_, _ = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName: name,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{
				AttributeName: aws.String("due"), Enabled: aws.Bool(rapid.Bool().Draw(t, "ttl")),
			},
		})
	}
}

// transaction increments a counter unless the transaction's token was used in the last ten minutes.
func transaction(t *rapid.T, client *dynamodb.Client, token int) error {
	_, err := client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String(fmt.Sprintf("token-%d", token)),
		TransactItems:      []types.TransactWriteItem{txUpdate(key("counter", "1"), "ADD n :v", item{":v": num("1")})},
	})
	return err
}

func seen(t *rapid.T, client *dynamodb.Client) map[string]any {
	found := map[string]any{}
	for _, partition := range []string{"a", "b", "counter"} {
		found[partition] = rows(t, client, queryInput("pk = :v", item{":v": str(partition)}))
	}
	for index, condition := range map[string]string{"byOrg": "org = :v", "byDue": "#s = :v", "whole": "org = :v"} {
		query := queryInput(condition, item{":v": str("o1")})
		if index == "byDue" {
			query.ExpressionAttributeNames = map[string]string{"#s": "shard"}
		}
		query.IndexName = &index
		found[index] = rows(t, client, query)
	}
	described, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(table)})
	if err != nil {
		t.Fatal(err)
	}
	ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	if err != nil {
		t.Fatal(err)
	}
	found["table"], found["ttl"] = *described.Table, *ttl.TimeToLiveDescription
	return found
}

func rows(t *rapid.T, client *dynamodb.Client, query *dynamodb.QueryInput) []item {
	out, err := client.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return out.Items
}

func TestRestartPreservesVisibleState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The wrapper hides t's Deadline method, which must not be called in a synctest bubble.
		rapid.Check(struct{ testing.TB }{t}, func(t *rapid.T) {
			journal := &memoryJournal{}
			client := clientOf(ddb.New(journal))
			if _, err := client.CreateTable(t.Context(), workTable()); err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(0, 25).Draw(t, "acts") {
				act(t, client)
			}
			again := clientOf(restarted(t, journal))
			if diff := cmp.Diff(seen(t, client), seen(t, again), cmpopts.IgnoreTypes(document.NoSerde{})); diff != "" {
				t.Fatalf("after two starts (-before +after):\n%s", diff)
			}
			for token := range 3 {
				before, after := transaction(t, client, token), transaction(t, again, token)
				if (before == nil) != (after == nil) {
					t.Fatalf("token %d: got %v, want %v", token, after, before)
				}
			}
			if diff := cmp.Diff(seen(t, client), seen(t, again), cmpopts.IgnoreTypes(document.NoSerde{})); diff != "" {
				t.Fatalf("after tokens were used again (-before +after):\n%s", diff)
			}
		})
	})
}
