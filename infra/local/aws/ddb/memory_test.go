package ddb_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

// TestRowMemoryStaysCloseToContentSize checks how much memory rows use. A laptop must be able to hold delivered events
// for their 15-day time to live, and expired rows must release their memory.
//
//nolint:paralleltest // other tests would use memory meanwhile
func TestRowMemoryStaysCloseToContentSize(t *testing.T) {
	const rows = 3000
	server := ddb.New(wire.Discard{})
	client := clientOf(server)
	createWork(t, client)
	if err := updateTTL(t, client, true); err != nil {
		t.Fatal(err)
	}
	before := liveHeap()
	for i := range rows {
		id := strconv.Itoa(i)
		put(t, client, with(key("event-"+id, "meta"), item{
			"expires": num(strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)), "org": str("org-" + id), "created": str(id),
			"body": str(longText(300)), "status": str("delivered"), "attempt": num("1"), "fence": num("1"),
			"event": str(longText(36)),
			"to":    str(longText(36)), "trigger": str("clock"), "paced": yes(false), "lease": num("1795359600000"),
			"next": num("1795359600000"),
		}))
	}
	for i := range rows { // overwriting a row must release the memory of its previous content
		if _, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String(table), Key: key("event-"+strconv.Itoa(i), "meta"),
			UpdateExpression: aws.String("SET attempt = :n"), ExpressionAttributeValues: item{":n": num("2")},
		}); err != nil {
			t.Fatal(err)
		}
	}
	size := sizeOf(t, server, rows)
	used := liveHeap() - before
	t.Logf("%d bytes of memory for a row of %d", used/rows, size/rows)
	if used > 3*size {
		t.Errorf("rows of %d bytes take %d, want at most three times as much", size/rows, used/rows)
	}
	if got := server.Expire(time.Now().Add(2 * time.Hour)); got != rows {
		t.Fatalf("%d rows expired, want %d", got, rows)
	}
	if left := liveHeap() - before; left > size {
		t.Errorf("%d bytes a row are left of what has expired", left/rows)
	}
	runtime.KeepAlive(server)
}

// sizeOf returns the total size of the table's rows as DynamoDB counts it. The test fails if the row count is wrong.
func sizeOf(t *testing.T, server *ddb.Server, rows int) (size int) {
	t.Helper()
	page, err := server.Browse(ddb.Position{Table: table, Limit: rows})
	if err != nil || len(page.Rows) != rows {
		t.Fatalf("%d rows are there (%v), want %d", len(page.Rows), err, rows)
	}
	for _, row := range page.Rows {
		size += row.Size
	}
	return size
}

func liveHeap() int {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	return int(now.HeapAlloc)
}
