package ddb_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

// FuzzExpressions sends arbitrary text as every kind of expression, and checks that each call either succeeds or
// returns an AWS error.
func FuzzExpressions(f *testing.F) {
	for _, seed := range []string{
		"pk = :v AND begins_with(sk, :v)", "attribute_exists(pk) AND NOT (n BETWEEN :n AND :n OR size(#a) IN (:n))",
		"SET #a = if_not_exists(m.l[0], :n) + :n, l = list_append(l, :v) REMOVE l[1] ADD n :n DELETE ss :v", "a, b[0].c",
		"((((((", "", "#", ":v", "l[99999999999999999999]",
	} {
		f.Add(seed)
	}
	server := ddb.New(wire.Discard{})
	createWork(f, clientOf(server))
	put(f, clientOf(server), sample())
	f.Fuzz(func(t *testing.T, expression string) {
		key := map[string]any{"pk": map[string]string{"S": "a"}, "sk": map[string]string{"S": "1"}}
		for parameter, operation := range map[string]string{
			"ConditionExpression": "DeleteItem", "UpdateExpression": "UpdateItem", "ProjectionExpression": "GetItem",
			"KeyConditionExpression": "Query", "FilterExpression": "Query",
		} {
			request := map[string]any{
				"TableName": table, parameter: expression,
				"ExpressionAttributeNames":  map[string]string{"#a": "m"},
				"ExpressionAttributeValues": map[string]any{":v": map[string]string{"S": "a"}, ":n": map[string]string{"N": "1"}},
			}
			if operation != "Query" {
				request["Key"] = key
			}
			body, err := json.Marshal(request)
			if err != nil {
				t.Fatal(err)
			}
			if status, answer := call(t, server, operation, string(body)); status != http.StatusOK &&
				status != http.StatusBadRequest {
				t.Errorf("got %d %v for %s %q", status, answer, parameter, expression)
			}
		}
	})
}
