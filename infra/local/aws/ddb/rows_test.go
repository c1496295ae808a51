package ddb_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func queryInput(condition string, values item) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: aws.String(table), KeyConditionExpression: &condition,
		ExpressionAttributeValues: values,
	}
}

func txPut(it item, condition string) types.TransactWriteItem {
	put := &types.Put{
		TableName: aws.String(table), Item: it,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if condition != "" {
		put.ConditionExpression = &condition
	}
	return types.TransactWriteItem{Put: put}
}

func txUpdate(k item, expression string, values item) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(table), Key: k,
		UpdateExpression: &expression, ExpressionAttributeValues: values,
	}}
}

func txCheck(k item, condition string) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: aws.String(table), Key: k,
		ConditionExpression: &condition,
	}}
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

// sample returns an item with one attribute of every type.
func sample() item {
	return item{
		"pk": str("a"), "sk": str("1"),
		"n": num("5"), "s": str("text"), "b": blob("\x00\xff"), "t": yes(true), "z": null(),
		"l":  list(num("0"), num("1"), num("2")),
		"m":  fields(item{"x": str("deep"), "l": list(fields(item{"y": num("1")}))}),
		"ss": strs("p", "q"), "ns": nums("1", "2"),
	}
}

func with(base item, changes item) item {
	for name, v := range changes {
		if base[name] = v; v == nil {
			delete(base, name)
		}
	}
	return base
}

func updateTTL(tb testing.TB, client *dynamodb.Client, enabled bool) error {
	tb.Helper()
	_, err := client.UpdateTimeToLive(tb.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(table),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: &enabled},
	})
	return err
}

func longText(length int) string { return strings.Repeat("x", length) }
