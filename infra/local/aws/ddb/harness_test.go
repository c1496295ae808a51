package ddb_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

type item = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func num(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func yes(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }

func blob(s string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(s)} }

func null() types.AttributeValue { return &types.AttributeValueMemberNULL{Value: true} }

func list(v ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: append([]types.AttributeValue{}, v...)}
}

func fields(m item) types.AttributeValue { return &types.AttributeValueMemberM{Value: m} }

func strs(s ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: s} }

func nums(s ...string) types.AttributeValue { return &types.AttributeValueMemberNS{Value: s} }

// inProcess is an aws.HTTPClient that does not use the network, so the real SDK can run in a synctest bubble.
type inProcess struct{ server *ddb.Server }

func (p inProcess) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.server.Serve(w, r, wire.Call{Service: p.server.Name(), Operation: p.server.Operation(r)})
	return w.Result(), nil
}

func clientOf(server *ddb.Server) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:           "us-east-1",
		BaseEndpoint:     aws.String("http://127.0.0.1"),
		Credentials:      credentials.NewStaticCredentialsProvider("test", "test", ""),
		HTTPClient:       inProcess{server},
		RetryMaxAttempts: 1,
	})
}

const table = "Work"

// newTable returns a client for a server that has a table named Work, whose key attributes are pk and sk. The table's
// indexes are byDue (keys only), byOrg (keys and note) and whole (all attributes).
func newTable(tb testing.TB) *dynamodb.Client {
	tb.Helper()
	client := clientOf(ddb.New(wire.Discard{}))
	createWork(tb, client)
	return client
}

func createWork(tb testing.TB, client *dynamodb.Client) {
	tb.Helper()
	if _, err := client.CreateTable(tb.Context(), workTable()); err != nil {
		tb.Fatal(err)
	}
}

func workTable() *dynamodb.CreateTableInput {
	gsi := func(name, partition, sort string, projection *types.Projection) types.GlobalSecondaryIndex {
		return types.GlobalSecondaryIndex{IndexName: &name, KeySchema: keySchema(partition, sort), Projection: projection}
	}
	return &dynamodb.CreateTableInput{
		TableName:            aws.String(table),
		BillingMode:          types.BillingModePayPerRequest,
		KeySchema:            keySchema("pk", "sk"),
		AttributeDefinitions: attributes("pk", "S", "sk", "S", "shard", "S", "due", "N", "org", "S", "created", "S"),
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{
			gsi("byDue", "shard", "due", &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}),
			gsi("byOrg", "org", "created", &types.Projection{
				ProjectionType:   types.ProjectionTypeInclude,
				NonKeyAttributes: []string{"note"},
			}),
			gsi("whole", "org", "", &types.Projection{ProjectionType: types.ProjectionTypeAll}),
		},
	}
}

func keySchema(partition, sort string) []types.KeySchemaElement {
	schema := []types.KeySchemaElement{{AttributeName: &partition, KeyType: types.KeyTypeHash}}
	if sort != "" {
		schema = append(schema, types.KeySchemaElement{AttributeName: &sort, KeyType: types.KeyTypeRange})
	}
	return schema
}

func attributes(namesAndTypes ...string) []types.AttributeDefinition {
	var out []types.AttributeDefinition
	for i := 0; i < len(namesAndTypes); i += 2 {
		out = append(out, types.AttributeDefinition{
			AttributeName: &namesAndTypes[i],
			AttributeType: types.ScalarAttributeType(namesAndTypes[i+1]),
		})
	}
	return out
}

func key(pk, sk string) item { return item{"pk": str(pk), "sk": str(sk)} }

func put(tb testing.TB, client *dynamodb.Client, it item) {
	tb.Helper()
	if _, err := client.PutItem(tb.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: it}); err != nil {
		tb.Fatal(err)
	}
}

func get(tb testing.TB, client *dynamodb.Client, k item) item {
	tb.Helper()
	out, err := client.GetItem(tb.Context(),
		&dynamodb.GetItemInput{TableName: aws.String(table), Key: k, ConsistentRead: aws.Bool(true)})
	if err != nil {
		tb.Fatal(err)
	}
	return out.Item
}

// wantItem compares two items, ignoring the order of set elements.
func wantItem(tb testing.TB, got, want item) {
	tb.Helper()
	if diff := cmp.Diff(want, got, itemOptions()...); diff != "" {
		tb.Errorf("item differs (-want +got):\n%s", diff)
	}
}

func itemOptions() []cmp.Option {
	return []cmp.Option{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreUnexported(
			types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberB{},
			types.AttributeValueMemberBOOL{}, types.AttributeValueMemberNULL{}, types.AttributeValueMemberL{},
			types.AttributeValueMemberM{}, types.AttributeValueMemberSS{}, types.AttributeValueMemberNS{},
			types.AttributeValueMemberBS{},
		),
		cmpopts.SortSlices(func(a, b string) bool { return a < b }),
	}
}

// wantRefusal checks that err has the AWS error code and contains the message.
func wantRefusal(tb testing.TB, err error, code, message string) {
	tb.Helper()
	failure, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		tb.Fatalf("got %v, want %s", err, code)
	}
	if got := failure.ErrorCode(); got != code {
		tb.Errorf("got error type %s (%s), want %s", got, failure.ErrorMessage(), code)
	}
	if got := failure.ErrorMessage(); !strings.Contains(got, message) {
		tb.Errorf("got message %q, want it to contain %q", got, message)
	}
}

// call sends a raw request that the SDK would refuse to build, and returns the response's status and body.
func call(tb testing.TB, server *ddb.Server, operation, body string) (int, map[string]any) {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	w := httptest.NewRecorder()
	server.Serve(w, r, wire.Call{})
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		tb.Fatalf("answer is no JSON: %v: %s", err, w.Body)
	}
	return w.Code, out
}
