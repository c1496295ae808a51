package ddb_test

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/infra/local/aws/ddb"
)

// memoryJournal keeps records as a file would: as bytes. It fails while full is set.
type memoryJournal struct {
	mu      sync.Mutex
	records []json.RawMessage
	full    bool
}

var errFull = errors.New("no space left")

func (j *memoryJournal) Append(_ string, record any) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full {
		return errFull
	}
	raw, err := json.Marshal(record)
	if err != nil {
		return err
	}
	j.records = append(j.records, raw)
	return nil
}

// restart makes a new server from the journal's records.
func (j *memoryJournal) restart(t *testing.T) *dynamodb.Client {
	t.Helper()
	server := ddb.New(j)
	for _, record := range j.records {
		if err := server.Replay(record); err != nil {
			t.Fatal(err)
		}
	}
	return clientOf(server)
}

func TestARestartedServerAnswersAsBefore(t *testing.T) {
	t.Parallel()
	journal := &memoryJournal{}
	client := clientOf(ddb.New(journal))
	createWork(t, client)
	if err := updateTTL(t, client, true); err != nil {
		t.Fatal(err)
	}
	tenTasks(t, client)
	put(t, client, with(sample(), item{"s": str("naïve \"quoted\" \x00")}))
	once := txUpdate(key("a", "1"), "ADD n :v", item{":v": num("0.5")})
	if err := transact(t, client, "token", once, txDelete(key("a", "03")), txCheck(key("a", "04"), "attribute_exists(pk)")); err != nil {
		t.Fatal(err)
	}
	put(t, client, key("b", "1"))

	again := journal.restart(t)
	for _, query := range allQueries() {
		wantSameAnswer(t, client, again, query)
	}
	wantTTL(t, again, types.TimeToLiveStatusEnabled)
	_, err := again.CreateTable(t.Context(), workTable())
	wantRefusal(t, err, "ResourceInUseException", "Table already exists")
	if err = transact(t, again, "token", once, txDelete(key("a", "03")), txCheck(key("a", "04"), "attribute_exists(pk)")); err != nil {
		t.Fatal(err)
	}
	wantItem(t, item{"n": get(t, again, key("a", "1"))["n"]}, item{"n": num("5.5")})
}

func allQueries() []*dynamodb.QueryInput {
	queries := []*dynamodb.QueryInput{
		queryInput("pk = :v", item{":v": str("a")}),
		queryInput("pk = :v", item{":v": str("b")}),
		queryInput("org = :v", item{":v": str("o")}),
		queryInput("#s = :v", item{":v": str("s")}),
	}
	queries[2].IndexName = aws.String("byOrg")
	queries[3].IndexName = aws.String("byDue")
	queries[3].ExpressionAttributeNames = map[string]string{"#s": "shard"}
	return queries
}

func wantSameAnswer(t *testing.T, before, after *dynamodb.Client, query *dynamodb.QueryInput) {
	t.Helper()
	want, err := before.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	got, err := after.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Items) == 0 {
		t.Errorf("query %s answers nothing, so it compares nothing", aws.ToString(query.KeyConditionExpression))
	}
	if diff := cmp.Diff(want.Items, got.Items, itemOptions()...); diff != "" {
		t.Errorf("answer differs after a restart (-want +got):\n%s", diff)
	}
}

func TestATransactionIsOneRecordAndARefusedWriteIsNone(t *testing.T) {
	t.Parallel()
	journal := &memoryJournal{}
	client := clientOf(ddb.New(journal))
	createWork(t, client)
	before := len(journal.records)
	if err := transact(t, client, "", txPut(key("a", "1"), ""), txPut(key("a", "2"), "")); err != nil {
		t.Fatal(err)
	}
	if got := len(journal.records) - before; got != 1 {
		t.Errorf("got %d records for a transaction, want 1", got)
	}
	before = len(journal.records)
	wantRefusal(t, transact(t, client, "", txPut(key("a", "3"), ""), txPut(key("a", "1"), "attribute_not_exists(pk)")), "TransactionCanceledException", "")
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a", "none")}); err != nil {
		t.Fatal(err)
	}
	if got := len(journal.records) - before; got != 0 {
		t.Errorf("got %d records for writes that change nothing, want 0", got)
	}
}

func TestAWriteThatTheJournalRefusesIsNotVisible(t *testing.T) {
	t.Parallel()
	journal := &memoryJournal{}
	client := clientOf(ddb.New(journal))
	createWork(t, client)
	journal.full = true
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: key("a", "1")})
	wantRefusal(t, err, "InternalServerError", "journal")
	if got := get(t, client, key("a", "1")); got != nil {
		t.Errorf("got %v, want nothing that is not in the journal", got)
	}
}

func TestAForeignRecordIsRefused(t *testing.T) {
	t.Parallel()
	for _, record := range []string{`[]`, `{"items":[{"table":"None","put":{"pk":{"S":"a"}}}]}`, `{"ttl":{"table":"None"}}`} {
		if err := ddb.New(&memoryJournal{}).Replay(json.RawMessage(record)); err == nil {
			t.Errorf("got no error for record %s", record)
		}
	}
}
