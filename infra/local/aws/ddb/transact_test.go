package ddb_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

func txPut(it item, condition string) types.TransactWriteItem {
	put := &types.Put{TableName: aws.String(table), Item: it, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	if condition != "" {
		put.ConditionExpression = &condition
	}
	return types.TransactWriteItem{Put: put}
}

func txUpdate(k item, expression string, values item) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{TableName: aws.String(table), Key: k, UpdateExpression: &expression, ExpressionAttributeValues: values}}
}

func txDelete(k item) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(table), Key: k}}
}

func txCheck(k item, condition string) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: aws.String(table), Key: k, ConditionExpression: &condition}}
}

func transact(tb testing.TB, client *dynamodb.Client, token string, items ...types.TransactWriteItem) error {
	tb.Helper()
	in := &dynamodb.TransactWriteItemsInput{TransactItems: items}
	if token != "" {
		in.ClientRequestToken = &token
	}
	_, err := client.TransactWriteItems(tb.Context(), in)
	return err
}

func TestATransactionWritesEverything(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, key("a", "checked"))
	put(t, client, key("a", "deleted"))
	if err := transact(t, client, "",
		txPut(key("a", "put"), "attribute_not_exists(pk)"),
		txUpdate(key("a", "updated"), "ADD n :v", item{":v": num("2")}),
		txDelete(key("a", "deleted")),
		txCheck(key("a", "checked"), "attribute_exists(pk)"),
	); err != nil {
		t.Fatal(err)
	}
	out, err := client.Query(t.Context(), queryInput("pk = :p", item{":p": str("a")}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"checked", "put", "updated"}, sortKeys(out.Items)); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
	wantItem(t, out.Items[2], item{"pk": str("a"), "sk": str("updated"), "n": num("2")})
}

func TestACancelledTransactionWritesNothingAndSaysWhy(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, sample())
	err := transact(t, client, "",
		txPut(key("b", "1"), ""),
		txPut(key("a", "1"), "attribute_not_exists(pk)"),
		txCheck(key("c", "1"), "attribute_exists(pk)"),
		txUpdate(key("d", "1"), "SET x = absent", nil),
	)
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		t.Fatalf("got %v, want a cancelled transaction", err)
	}
	wantMessage := "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed, ValidationError]"
	if got := cancelled.ErrorMessage(); got != wantMessage {
		t.Errorf("got message %q, want %q", got, wantMessage)
	}
	codes := make([]string, 0, len(cancelled.CancellationReasons))
	for _, reason := range cancelled.CancellationReasons {
		codes = append(codes, aws.ToString(reason.Code))
	}
	if diff := cmp.Diff([]string{"None", "ConditionalCheckFailed", "ConditionalCheckFailed", "ValidationError"}, codes); diff != "" {
		t.Fatalf("codes differ (-want +got):\n%s", diff)
	}
	wantItem(t, cancelled.CancellationReasons[1].Item, sample())
	wantItem(t, cancelled.CancellationReasons[2].Item, nil)
	if got := get(t, client, key("b", "1")); got != nil {
		t.Errorf("got %v from a cancelled transaction, want nothing", got)
	}
}

func TestMalformedTransactionsAreRefused(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tooMany := make([]types.TransactWriteItem, 101)
	for i := range tooMany {
		tooMany[i] = txPut(key("a", strconv.Itoa(i)), "")
	}
	tooLarge := make([]types.TransactWriteItem, 11)
	for i := range tooLarge {
		tooLarge[i] = txPut(with(key("a", strconv.Itoa(i)), item{"s": str(longText(399 << 10))}), "")
	}
	tests := map[string]struct {
		items   []types.TransactWriteItem
		message string
	}{
		"nothing":            {[]types.TransactWriteItem{}, "transactItems"},
		"more than 100":      {tooMany, "transactItems"},
		"more than 4 MB":     {tooLarge, "4 MB"},
		"one item twice":     {[]types.TransactWriteItem{txPut(key("a", "1"), ""), txDelete(key("a", "1"))}, "Transaction request cannot include multiple operations on one item"},
		"two actions in one": {[]types.TransactWriteItem{{Put: txPut(key("a", "1"), "").Put, Delete: txDelete(key("a", "2")).Delete}}, "TransactItems can only contain one of Check, Put, Update or Delete"},
		"a syntax error":     {[]types.TransactWriteItem{txPut(key("a", "1"), "pk =")}, "Invalid ConditionExpression: Syntax error"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantRefusal(t, transact(t, client, "", test.items...), "ValidationException", test.message)
		})
	}
}

func TestARepeatedTokenIsAnsweredAndNotExecuted(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	add := txUpdate(key("a", "1"), "ADD n :v", item{":v": num("1"), ":w": num("1")})
	add.Update.UpdateExpression = aws.String("ADD n :v, m2 :w")
	for range 3 {
		if err := transact(t, client, "token", add); err != nil {
			t.Fatal(err)
		}
	}
	wantItem(t, get(t, client, key("a", "1")), item{"pk": str("a"), "sk": str("1"), "n": num("1"), "m2": num("1")})
	wantRefusal(t, transact(t, client, "token", txDelete(key("a", "1"))), "IdempotentParameterMismatchException", "token")
}

func TestAFailedTransactionDoesNotUseUpItsToken(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	claim := txPut(key("a", "1"), "attribute_not_exists(pk)")
	put(t, client, key("a", "1"))
	wantRefusal(t, transact(t, client, "token", claim), "TransactionCanceledException", "ConditionalCheckFailed")
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a", "1")}); err != nil {
		t.Fatal(err)
	}
	if err := transact(t, client, "token", claim); err != nil {
		t.Fatal(err)
	}
}

func TestTransactGetItemsReadsInOrder(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, sample())
	read := func(k item) types.TransactGetItem {
		return types.TransactGetItem{Get: &types.Get{TableName: aws.String(table), Key: k, ProjectionExpression: aws.String("n")}}
	}
	out, err := client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{read(key("a", "none")), read(key("a", "1"))}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Responses) != 2 || out.Responses[0].Item != nil {
		t.Fatalf("got %v, want nothing and an item", out.Responses)
	}
	wantItem(t, out.Responses[1].Item, item{"n": num("5")})
	_, err = client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{read(key("a", "1")), read(key("a", "1"))}})
	wantRefusal(t, err, "ValidationException", "multiple operations on one item")
}
