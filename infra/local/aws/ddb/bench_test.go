package ddb_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

// task is a row of the size and shape of the service's own.
func task(i int) item {
	return item{
		"pk": str("T#TASK#" + strconv.Itoa(i)), "sk": str("META"), "org": str("o" + strconv.Itoa(i%100)),
		"created": str(strconv.Itoa(i)),
		"shard":   str(strconv.Itoa(i % 16)), "due": num(strconv.Itoa(i)), "rev": num("1"), "state_name": str("queued"),
		"body": str(longText(300)),
	}
}

func BenchmarkPutItem(b *testing.B) {
	client := newTable(b)
	for i := 0; b.Loop(); i++ {
		put(b, client, task(i))
	}
}

func BenchmarkGetItem(b *testing.B) {
	client := newTable(b)
	put(b, client, task(1))
	k := item{"pk": task(1)["pk"], "sk": task(1)["sk"]}
	for b.Loop() {
		get(b, client, k)
	}
}

// BenchmarkServePutItem leaves out the SDK, to show what the server alone costs.
func BenchmarkServePutItem(b *testing.B) {
	server := ddb.New(wire.Discard{})
	createWork(b, clientOf(server))
	const body = `{"TableName":"Work","Item":{"pk":{"S":"T#TASK#%d"},"sk":{"S":"META"},"org":{"S":"o"},` +
		`"created":{"S":"%d"},"rev":{"N":"1"},"body":{"S":"%s"}}}`
	text := longText(300)
	for i := 0; b.Loop(); i++ {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/",
			strings.NewReader(fmt.Sprintf(body, i, i, text)))
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
		w := httptest.NewRecorder()
		server.Serve(w, r, wire.Call{})
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}

func BenchmarkQueryDueRows(b *testing.B) {
	client := newTable(b)
	for i := range 2000 {
		put(b, client, task(i))
	}
	in := queryInput("#s = :s AND due <= :d", item{":s": str("3"), ":d": num("1000")})
	in.IndexName = aws.String("byDue")
	in.ExpressionAttributeNames = map[string]string{"#s": "shard"}
	in.Limit = aws.Int32(25)
	for b.Loop() {
		if _, err := client.Query(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTransactWriteItems(b *testing.B) {
	client := newTable(b)
	for i := 0; b.Loop(); i++ {
		update := txUpdate(item{"pk": str("counter"), "sk": str("1")}, "ADD n :v", item{":v": num("1")})
		if _, err := client.TransactWriteItems(b.Context(), &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{txPut(task(i), "attribute_not_exists(pk)"), update},
		}); err != nil {
			b.Fatal(err)
		}
	}
}
