package ddb_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

const held = time.Second

// holding returns a server that keeps its first transaction in flight for a second. The test must run in a synctest
// bubble.
func holding(t *testing.T) (*ddb.Server, *dynamodb.Client) {
	t.Helper()
	server := ddb.New(wire.Discard{})
	client := clientOf(server)
	createWork(t, client)
	put(t, client, with(key("a", "1"), item{"n": num("1")}))
	first := true
	server.HoldTransactions(func([]string) time.Duration {
		if !first {
			return 0
		}
		first = false
		return held
	})
	return server, client
}

// inFlight starts a transaction, waits until it has claimed its items, and returns a channel for its result.
func inFlight(t *testing.T, client *dynamodb.Client, token string, items ...types.TransactWriteItem) <-chan error {
	t.Helper()
	outcome := make(chan error, 1)
	go func() { outcome <- transact(t, client, token, items...) }()
	synctest.Wait()
	return outcome
}

func increment(n string) types.TransactWriteItem {
	return txUpdate(key("a", "1"), "SET n = :v", item{":v": num(n)})
}

func wantReasons(t *testing.T, err error, want ...string) {
	t.Helper()
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		t.Fatalf("got %v, want a cancelled transaction", err)
	}
	got := make([]string, 0, len(want))
	for _, reason := range cancelled.CancellationReasons {
		got = append(got, aws.ToString(reason.Code))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons differ (-want +got):\n%s", diff)
	}
}

func TestConflictingTransactionIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, client := holding(t)
		outcome := inFlight(t, client, "", increment("2"), txCheck(key("a", "checked"), "attribute_not_exists(pk)"))
		wantReasons(t, transact(t, client, "", txPut(key("a", "new"), ""), increment("3")), "None", "TransactionConflict")
		wantReasons(t, transact(t, client, "", txPut(key("a", "checked"), "")), "TransactionConflict")
		wantReasons(t, transact(t, client, "", txCheck(key("a", "1"), "attribute_exists(pk)")), "TransactionConflict")
		if err := transact(t, client, "", txPut(key("a", "apart"), "")); err != nil {
			t.Errorf("got %v for a transaction on other items, want success", err)
		}
		if err := <-outcome; err != nil {
			t.Errorf("got %v for the first transaction, want success", err)
		}
		if err := transact(t, client, "", increment("3")); err != nil {
			t.Errorf("got %v after the first transaction, want success", err)
		}
		wantItem(t, get(t, client, key("a", "1")), with(key("a", "1"), item{"n": num("3")}))
		wantItem(t, get(t, client, key("a", "new")), nil)
	})
}

func TestSingleWriteFailsDuringTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, client := holding(t)
		outcome := inFlight(t, client, "", increment("2"))
		name, k := aws.String(table), key("a", "1")
		_, putErr := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: k})
		_, updateErr := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: name, Key: k})
		_, deleteErr := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: name, Key: k})
		for _, err := range []error{putErr, updateErr, deleteErr} {
			wantRefusal(t, err, "TransactionConflictException", "Transaction is ongoing for the item")
		}
		put(t, client, key("a", "other"))
		if err := <-outcome; err != nil {
			t.Fatal(err)
		}
		put(t, client, k)
	})
}

func TestReadsReturnPreviousItemDuringTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, client := holding(t)
		outcome := inFlight(t, client, "", increment("2"))
		wantItem(t, get(t, client, key("a", "1")), with(key("a", "1"), item{"n": num("1")}))
		out, err := client.Query(t.Context(), queryInput("pk = :p", item{":p": str("a")}))
		if err != nil || out.Count != 1 {
			t.Errorf("got %v and %v from a query, want one row", out, err)
		}
		if err = <-outcome; err != nil {
			t.Fatal(err)
		}
		wantItem(t, get(t, client, key("a", "1")), with(key("a", "1"), item{"n": num("2")}))
	})
}

func TestTransactionInProgressRejectsRepeatedToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, client := holding(t)
		outcome := inFlight(t, client, "token", increment("2"))
		wantRefusal(t, transact(t, client, "token", increment("2")), "TransactionInProgressException", "already in progress")
		if err := <-outcome; err != nil {
			t.Fatal(err)
		}
		if err := transact(t, client, "token", increment("2")); err != nil {
			t.Errorf("got %v for a repeat, want success", err)
		}
	})
}

func TestCancelledTransactionReleasesItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, client := holding(t)
		outcome := inFlight(t, client, "token", txPut(key("a", "1"), "attribute_not_exists(pk)"))
		wantReasons(t, <-outcome, "ConditionalCheckFailed")
		put(t, client, key("a", "1"))
		wantReasons(t, transact(t, client, "token", txPut(key("a", "1"), "attribute_not_exists(pk)")),
			"ConditionalCheckFailed")
	})
}

func TestExpireKeepsRowLockedByTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := holding(t)
		if err := updateTTL(t, client, true); err != nil {
			t.Fatal(err)
		}
		put(t, client, with(key("a", "1"), item{"expires": num("946684700")})) // 100 s before the bubble's start
		outcome := inFlight(t, client, "", txUpdate(key("a", "1"), "ADD n :v", item{":v": num("1")}))
		<-time.After(held / 2)
		if got := server.Expire(time.Now()); got != 0 {
			t.Errorf("%d rows went that a transaction held, want none", got)
		}
		if err := <-outcome; err != nil {
			t.Fatal(err)
		}
		if got := server.Expire(time.Now()); got != 1 {
			t.Errorf("%d rows went after the transaction, want 1", got)
		}
	})
}

// untilNoConflict retries a write until it succeeds or fails with an error that is not a conflict.
func untilNoConflict(ctx context.Context, write func() error) error {
	for {
		err := write()
		failure, failed := errors.AsType[smithy.APIError](err)
		cancelled, _ := errors.AsType[*types.TransactionCanceledException](err)
		conflict := failed && failure.ErrorCode() == "TransactionConflictException" ||
			cancelled != nil && aws.ToString(cancelled.CancellationReasons[0].Code) == "TransactionConflict"
		if !conflict {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}
