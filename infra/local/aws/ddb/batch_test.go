package ddb_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func putRequest(it item) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: it}}
}

func deleteRequest(k item) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: k}}
}

func batchWrite(tb testing.TB, client *dynamodb.Client, requests ...types.WriteRequest) error {
	tb.Helper()
	_, err := client.BatchWriteItem(tb.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: requests}})
	return err
}

func batchGet(tb testing.TB, client *dynamodb.Client, keys ...item) (*dynamodb.BatchGetItemOutput, error) {
	tb.Helper()
	return client.BatchGetItem(tb.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}}})
}

func TestABatchWritesAndReads(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, key("b", "old"))
	requests := append(make([]types.WriteRequest, 0, 25), deleteRequest(key("b", "old")), deleteRequest(key("b", "absent")))
	keys := append(make([]item, 0, 24), key("b", "old"))
	for i := range 23 {
		requests = append(requests, putRequest(key("b", strconv.Itoa(i))))
		keys = append(keys, key("b", strconv.Itoa(i)))
	}
	if err := batchWrite(t, client, requests...); err != nil {
		t.Fatal(err)
	}
	out, err := batchGet(t, client, keys...)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(out.Responses[table]); got != 23 || len(out.UnprocessedKeys) != 0 {
		t.Errorf("got %d items and %d unprocessed tables, want 23 and 0", got, len(out.UnprocessedKeys))
	}
}

func TestABatchReadStopsAt16MegabytesAndNamesTheRest(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	keys := make([]item, 0, 45)
	for i := range 45 {
		k := key("big", fmt.Sprintf("%02d", i))
		keys = append(keys, k)
		put(t, client, item{"pk": k["pk"], "sk": k["sk"], "s": str(longText(399 << 10))})
	}
	request := map[string]types.KeysAndAttributes{table: {Keys: keys}}
	read, calls := 0, 0
	for len(request) > 0 {
		out, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: request})
		if err != nil {
			t.Fatal(err)
		}
		read += len(out.Responses[table])
		calls++
		request = out.UnprocessedKeys
	}
	if read != 45 || calls != 2 {
		t.Errorf("got %d items in %d calls, want 45 in 2", read, calls)
	}
}

func TestMalformedBatchesAreRefused(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	requests := make([]types.WriteRequest, 0, 101)
	keys := make([]item, 0, 101)
	for i := range 101 {
		requests = append(requests, putRequest(key("a", strconv.Itoa(i))))
		keys = append(keys, key("a", strconv.Itoa(i)))
	}
	one := key("a", "1")
	tests := map[string]struct {
		send    func(t *testing.T) error
		code    string
		message string
	}{
		"26 writes": {func(t *testing.T) error { t.Helper(); return batchWrite(t, client, requests[:26]...) }, "ValidationException", "Too many items requested for the BatchWriteItem call"},
		"one row twice": {func(t *testing.T) error {
			t.Helper()
			return batchWrite(t, client, putRequest(one), deleteRequest(one))
		}, "ValidationException", "Provided list of item keys contains duplicates"},
		"an incomplete key": {func(t *testing.T) error { t.Helper(); return batchWrite(t, client, putRequest(item{"pk": str("a")})) }, "ValidationException", ""},
		"101 reads":         {func(t *testing.T) error { t.Helper(); _, err := batchGet(t, client, keys...); return err }, "ValidationException", "Too many items requested for the BatchGetItem call"},
		"one key twice":     {func(t *testing.T) error { t.Helper(); _, err := batchGet(t, client, one, one); return err }, "ValidationException", "Provided list of item keys contains duplicates"},
		"an unknown table": {func(t *testing.T) error {
			t.Helper()
			_, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"None": {Keys: keys[:1]}}})
			return err
		}, "ResourceNotFoundException", "Requested resource not found"},
		"a projection with an unused name": {func(t *testing.T) error {
			t.Helper()
			_, err := client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {
				Keys: keys[:1], ProjectionExpression: aws.String("n"), ExpressionAttributeNames: map[string]string{"#x": "x"},
			}}})
			return err
		}, "ValidationException", "unused in expressions: keys: {#x}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantRefusal(t, test.send(t), test.code, test.message)
		})
	}
}
