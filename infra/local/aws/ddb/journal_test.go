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

// memoryJournal is a wire.Journal that stores encoded records in memory. While full is set, Append returns an error.
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

func TestTransactionWritesOneJournalRecord(t *testing.T) {
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
	wantRefusal(t, transact(t, client, "", txPut(key("a", "3"), ""), txPut(key("a", "1"), "attribute_not_exists(pk)")),
		"TransactionCanceledException", "")
	if _, err := client.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a", "none")}); err != nil {
		t.Fatal(err)
	}
	if got := len(journal.records) - before; got != 0 {
		t.Errorf("got %d records for writes that change nothing, want 0", got)
	}
}

func TestFailedJournalWriteIsNotVisible(t *testing.T) {
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

func TestReplayRejectsUnknownRecord(t *testing.T) {
	t.Parallel()
	for _, record := range []string{
		`[]`, `{"items":[{"table":"None","put":{"pk":{"S":"a"}}}]}`,
		`{"ttl":{"table":"None"}}`,
	} {
		if err := ddb.New(&memoryJournal{}).Replay(json.RawMessage(record)); err == nil {
			t.Errorf("got no error for record %s", record)
		}
	}
}
