package ddb_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

func TestAnItemComesBackAsItWasPut(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	want := with(sample(), item{
		"unicode": str("naïve \"quoted\" \\ \n \u2028 <&> 🌲"), "empty": str(""), "emptylist": list(), "emptymap": fields(item{}),
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{{0}, {1, 2}}},
	})
	put(t, client, want)
	wantItem(t, get(t, client, key("a", "1")), want)
	if got := get(t, client, key("a", "2")); got != nil {
		t.Errorf("got %v for a key without an item, want none", got)
	}
}

func TestNumbersComeBackInCanonicalForm(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for given, want := range map[string]string{
		"007": "7", "-0": "0", "+1.50": "1.5", "1e3": "1000", "12.5E-4": "0.00125", ".5": "0.5", "5.": "5", "0e500": "0",
		"12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
	} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			put(t, client, item{"pk": str("n"), "sk": str(given), "n": num(given)})
			wantItem(t, get(t, client, key("n", given)), item{"pk": str("n"), "sk": str(given), "n": num(want)})
		})
	}
}

func TestMalformedItemsAreRefused(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	deep := str("bottom")
	for range 33 {
		deep = list(deep)
	}
	tests := map[string]struct {
		change  item
		message string
	}{
		"no partition key":         {item{"pk": nil}, "Missing the key pk in the item"},
		"no sort key":              {item{"sk": nil}, "Missing the key sk in the item"},
		"a key of the wrong type":  {item{"pk": num("1")}, "Type mismatch for key pk expected: S actual: N"},
		"an empty key":             {item{"sk": str("")}, "The AttributeValue for a key attribute cannot contain an empty string value. Key: sk"},
		"a partition key too long": {item{"pk": str(longText(2049))}, "Size of hashkey has exceeded the maximum size limit of2048 bytes"},
		"a sort key too long":      {item{"sk": str(longText(1025))}, "has exceeded the size limit of 1024 bytes"},
		"an index key's type":      {item{"due": str("1")}, "Type mismatch for Index Key due Expected: N Actual: S IndexName: byDue"},
		"an empty index key":       {item{"org": str("")}, "empty string value. IndexName: byOrg, IndexKey: org"},
		"more than 400 KB":         {item{"s": str(longText(400 << 10))}, "Item size has exceeded the maximum allowed size"},
		"more than 32 levels":      {item{"deep": deep}, "Nesting Levels have exceeded supported limits"},
		"an empty set":             {item{"ss": strs()}, "set  may not be empty"},
		"a set with a duplicate":   {item{"ss": strs("x", "x")}, "contains duplicates"},
		"a set with equal numbers": {item{"ns": nums("1", "1.0")}, "contains duplicates"},
		"no number":                {item{"n": num("one")}, "cannot be converted to a numeric value: one"},
		"an empty number":          {item{"n": num("")}, "cannot be converted to a numeric value"},
		"two points":               {item{"n": num("1.2.3")}, "cannot be converted to a numeric value"},
		"blanks around a number":   {item{"n": num(" 1")}, "cannot be converted to a numeric value"},
		"39 digits":                {item{"n": num(strings.Repeat("1", 39))}, "Attempting to store more than 38 significant digits in a Number"},
		"a number too large":       {item{"n": num("1E126")}, "Number overflow"},
		"a number too small":       {item{"n": num("1E-131")}, "Number underflow"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: with(sample(), test.change)})
			wantRefusal(t, err, "ValidationException", test.message)
		})
	}
	if got := get(t, client, key("a", "1")); got != nil {
		t.Errorf("got %v after refused puts, want nothing", got)
	}
}

func TestAnItemOf400KilobytesIsAccepted(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	names := len("pk") + len("a") + len("sk") + len("1") + len("s")
	put(t, client, item{"pk": str("a"), "sk": str("1"), "s": str(longText(400<<10 - names))})
}

func TestAKeyIsExactlyTheKeyAttributes(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	for name, k := range map[string]item{
		"too few": {"pk": str("a")}, "too many": {"pk": str("a"), "sk": str("1"), "n": num("1")},
		"another": {"pk": str("a"), "due": str("1")}, "wrong type": {"pk": str("a"), "sk": num("1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: k})
			wantRefusal(t, err, "ValidationException", "The provided key element does not match the schema")
			_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: k})
			wantRefusal(t, err, "ValidationException", "The provided key element does not match the schema")
		})
	}
}

func TestAProjectionKeepsTheStructureAndClosesUpLists(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, sample())
	for projection, want := range map[string]item{
		"n, absent":           {"n": num("5")},
		"l[2], l[0]":          {"l": list(num("0"), num("2"))},
		"m.l[0].y, m.absent":  {"m": fields(item{"l": list(fields(item{"y": num("1")}))})},
		"#x":                  {"s": str("text")},
		"absent, l[9], n.z.q": {},
	} {
		t.Run(projection, func(t *testing.T) {
			t.Parallel()
			in := &dynamodb.GetItemInput{TableName: aws.String(table), Key: key("a", "1"), ProjectionExpression: &projection}
			if strings.Contains(projection, "#") {
				in.ExpressionAttributeNames = map[string]string{"#x": "s"}
			}
			out, err := client.GetItem(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if out.Item == nil {
				t.Fatal("got no item, want one with what the projection selects")
			}
			wantItem(t, out.Item, want)
		})
	}
}

func TestDeleteAndPutReturnTheOldItem(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, sample())
	replaced, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: key("a", "1"), ReturnValues: types.ReturnValueAllOld})
	if err != nil {
		t.Fatal(err)
	}
	wantItem(t, replaced.Attributes, sample())
	remove := &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a", "1"), ReturnValues: types.ReturnValueAllOld}
	for _, want := range []item{key("a", "1"), nil} {
		out, deleteErr := client.DeleteItem(t.Context(), remove)
		if deleteErr != nil {
			t.Fatal(deleteErr)
		}
		wantItem(t, out.Attributes, want)
	}
	remove.ReturnValues = types.ReturnValueAllNew
	_, err = client.DeleteItem(t.Context(), remove)
	wantRefusal(t, err, "ValidationException", "Return values set to invalid value")
}

func TestAnUnknownTableIsNotFound(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("None"), Key: key("a", "1")})
	wantRefusal(t, err, "ResourceNotFoundException", "Requested resource not found")
}

func TestWhatIsLeftOutIsRefused(t *testing.T) {
	t.Parallel()
	server := ddb.New(wire.Discard{})
	createWork(t, clientOf(server))
	const k = `"Key":{"pk":{"S":"a"},"sk":{"S":"1"}}`
	tests := map[string]struct{ operation, body, errorType, message string }{
		"Scan":                 {"Scan", `{"TableName":"Work"}`, "UnknownOperationException", "Scan"},
		"legacy condition":     {"DeleteItem", `{"TableName":"Work",` + k + `,"Expected":{}}`, "com.amazon.coral.validate#ValidationException", "Expected"},
		"legacy update":        {"UpdateItem", `{"TableName":"Work",` + k + `,"AttributeUpdates":{}}`, "com.amazon.coral.validate#ValidationException", "AttributeUpdates"},
		"legacy key condition": {"Query", `{"TableName":"Work","KeyConditions":{}}`, "com.amazon.coral.validate#ValidationException", "KeyConditions"},
		"legacy projection":    {"GetItem", `{"TableName":"Work",` + k + `,"AttributesToGet":["n"]}`, "com.amazon.coral.validate#ValidationException", "AttributesToGet"},
		"capacity":             {"GetItem", `{"TableName":"Work",` + k + `,"ReturnConsumedCapacity":"TOTAL"}`, "com.amazon.coral.validate#ValidationException", "ReturnConsumedCapacity"},
		"two types":            {"PutItem", `{"TableName":"Work","Item":{"pk":{"S":"a","N":"1"}}}`, "com.amazon.coral.validate#ValidationException", "more than one datatypes"},
		"no type":              {"PutItem", `{"TableName":"Work","Item":{"pk":{}}}`, "com.amazon.coral.validate#ValidationException", "AttributeValue is empty"},
		"a false null":         {"PutItem", `{"TableName":"Work","Item":{"pk":{"NULL":false}}}`, "com.amazon.coral.validate#ValidationException", "must have the value of true"},
		"no JSON":              {"PutItem", `{"TableName":`, "com.amazon.coral.service#SerializationException", "unexpected end"},
		"a number as number":   {"PutItem", `{"TableName":"Work","Item":{"pk":{"N":1}}}`, "com.amazon.coral.service#SerializationException", "cannot unmarshal"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := call(t, server, test.operation, test.body)
			if status != http.StatusBadRequest || body["__type"] != test.errorType {
				t.Errorf("got %d %v, want 400 %s", status, body, test.errorType)
			}
			if message, _ := body["message"].(string); !strings.Contains(message, test.message) {
				t.Errorf("got message %q, want it to contain %q", message, test.message)
			}
		})
	}
}
