package console_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

type row = map[string]types.AttributeValue

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// withTable creates a table with six rows, three of which are in the table's index.
func withTable(t *testing.T, f fixture) {
	t.Helper()
	db := dynamodb.NewFromConfig(f.cloud.Config("test"))
	key := func(name string, kind types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	attribute := func(name string, kind types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: kind}
	}
	_, err := db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: awssdk.String("local-Work"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{attribute("pk", "S"), attribute("sk", "S"), attribute("due", "N")},
		KeySchema:            []types.KeySchemaElement{key("pk", "HASH"), key("sk", "RANGE")},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: awssdk.String("by-due"), KeySchema: []types.KeySchemaElement{key("due", "HASH")},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		item := row{"pk": text(fmt.Sprintf("org#%d", i/2)), "sk": text(fmt.Sprintf("row#%d", i)), "note": text(evil)}
		if i < 3 {
			item["due"] = &types.AttributeValueMemberN{Value: strconv.Itoa(100 + i)}
		}
		put(t, f, item)
	}
}

func put(t *testing.T, f fixture, item row) {
	t.Helper()
	db := dynamodb.NewFromConfig(f.cloud.Config("test"))
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: awssdk.String("local-Work"),
		Item:      item,
	}); err != nil {
		t.Fatal(err)
	}
}

type items struct {
	Rows []struct {
		ID      string
		Keys    map[string]any
		Preview string
		Size    int
	}
	Next string
}

// names returns the numbers in the rows' sort keys, joined into one string.
func (page items) names() string {
	names := make([]string, len(page.Rows))
	for i, r := range page.Rows {
		names[i] = strings.TrimPrefix(fmt.Sprint(r.Keys["sk"]), "row#")
	}
	return strings.Join(names, "")
}

func TestConsoleListsTablesWithIndexes(t *testing.T) {
	t.Parallel()
	f := build(t)
	withTable(t, f)
	var got map[string]any
	f.get(t, 200, &got, "tables")
	want := map[string]any{"tables": []any{map[string]any{
		"name": "local-Work", "partition": "pk", "sort": "sk", "rows": 6.0,
		"indexes": []any{map[string]any{"name": "by-due", "partition": "due", "rows": 3.0}},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

func TestConsoleListsTableRowsByKeyWithPagination(t *testing.T) {
	t.Parallel()
	f := build(t)
	withTable(t, f)
	var seen []string
	from := ""
	for range 10 {
		var page items
		f.get(t, 200, &page, "tables/local-Work/items", "limit", "4", "from", from)
		seen = append(seen, page.names())
		if from = page.Next; from == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"0123", "45"}, seen); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for query, want := range map[string]string{"org#1": "23", "org#": "012345", "org#1x": "", "row#": ""} {
		var page items
		f.get(t, 200, &page, "tables/local-Work/items", "prefix", query)
		if got := page.names(); got != want || page.Next != "" {
			t.Errorf("prefix %q: got %q and %q, want %q", query, got, page.Next, want)
		}
	}
	var index items
	f.get(t, 200, &index, "tables/local-Work/items", "index", "by-due", "prefix", "10", "limit", "2")
	if got := index.names(); got != "01" || index.Next == "" || index.Rows[0].Keys["due"] != 100.0 ||
		index.Rows[0].Preview != "{}" {
		t.Errorf("index: got %+v", index)
	}
	f.get(t, 200, &index, "tables/local-Work/items", "index", "by-due", "from", index.Next)
	if got := index.names(); got != "2" || index.Next != "" {
		t.Errorf("index, second page: got %+v", index)
	}
}

func TestRowIsShownAsJSONWithoutSecrets(t *testing.T) {
	t.Parallel()
	f := build(t)
	withTable(t, f)
	put(t, f, row{
		"pk": text("!first"), "sk": text(evil), evil: text(evil), "empty": &types.AttributeValueMemberNULL{Value: true},
		"big": &types.AttributeValueMemberN{Value: "12345678901234567890"},
		"yes": &types.AttributeValueMemberBOOL{Value: true},
		"list": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			text("a"),
			&types.AttributeValueMemberB{Value: []byte("SENTINEL")},
		}},
		"map":    &types.AttributeValueMemberM{Value: row{"inner": text("b"), "access_token": text("SENTINEL")}},
		"names":  &types.AttributeValueMemberSS{Value: []string{"x"}},
		"sealed": &types.AttributeValueMemberB{Value: []byte("SENTINEL")},
		"parts":  &types.AttributeValueMemberBS{Value: [][]byte{[]byte("SENTINEL")}},
		"keys":   text(`[{"id":"k","hash":"SENTINEL","n":1}]`), "secrets": text(`[{"value":"SENTINEL"}]`),
		"client_secret":  text("SENTINEL"),
		"note":           text("whsec_SENTINEL and private_live_SENTINEL"),
		"token_endpoint": text("https://portal.example/token"),
		"pem":            text("-----BEGIN PRIVATE KEY-----\nSENTINEL\n-----END PRIVATE KEY-----"),
	})
	var page items
	f.get(t, 200, &page, "tables/local-Work/items", "limit", "1")
	if strings.Contains(page.Rows[0].Preview, "SENTINEL") || len([]rune(page.Rows[0].Preview)) > 161 {
		t.Errorf("got preview %q", page.Rows[0].Preview)
	}
	var got struct {
		Keys []string
		Item map[string]any
	}
	f.get(t, 200, &got, "tables/local-Work/item", "id", page.Rows[0].ID)
	hidden, eight := map[string]any{"hidden": "8 characters"}, map[string]any{"binary": "8 bytes"}
	want := map[string]any{
		"pk": "!first", "sk": evil, evil: evil, "empty": nil, "big": 12345678901234567890.0, "yes": true,
		"list": []any{"a", eight},
		"map":  map[string]any{"inner": "b", "access_token": hidden}, "names": []any{"x"}, "sealed": eight,
		"parts":   []any{eight},
		"keys":    []any{map[string]any{"id": "k", "hash": hidden, "n": 1.0}},
		"secrets": []any{map[string]any{"value": hidden}}, "client_secret": hidden,
		"note": "whsec_[hidden] and private_live_[hidden]", "token_endpoint": "https://portal.example/token",
		"pem": "[hidden]",
	}
	if diff := cmp.Diff(want, got.Item); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"pk", "sk"}, got.Keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestMissingTableOrRowReturns404(t *testing.T) {
	t.Parallel()
	f := build(t)
	withTable(t, f)
	for _, test := range []struct {
		status     int
		path       string
		parameters []string
	}{
		{404, "tables/local-Nothing/items", nil},
		{400, "tables/local-Work/items", []string{"index", "nothing"}},
		{400, "tables/local-Work/items", []string{"from", "nothing"}},
		{400, "tables/local-Work/items", []string{"from", "?.?.?"}},
		{400, "tables/local-Work/item", []string{"id", "a.b"}},
		{404, "tables/local-Work/item", []string{"id", "eA.eA."}},
		{404, "tables/local-Nothing/item", []string{"id", "eA.eA."}},
	} {
		var got map[string]string
		f.get(t, test.status, &got, test.path, test.parameters...)
		if got["error"] == "" {
			t.Errorf("%s %v: got %v, want an error", test.path, test.parameters, got)
		}
	}
}
