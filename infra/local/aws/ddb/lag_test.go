package ddb_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/aws/ddb"
	"recordbridge/infra/local/aws/wire"
)

// lagging returns a client for a server that delays updates to each index by lag[index]. The test must run in a
// synctest bubble. The test can modify lag to change the delays of later updates.
func lagging(t *testing.T, lag map[string]time.Duration) *dynamodb.Client {
	t.Helper()
	server := ddb.New(wire.Discard{})
	client := clientOf(server)
	createWork(t, client)
	server.LagIndexes(func(_, index string) time.Duration { return lag[index] })
	return client
}

// indexed returns the sorted notes of organisation "o" in an index.
func indexed(t *testing.T, client *dynamodb.Client, index string) []string {
	t.Helper()
	in := queryInput("org = :o", item{":o": str("o")})
	in.IndexName = &index
	out, err := client.Query(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	notes := []string{}
	for _, it := range out.Items {
		if note, ok := it["note"].(*types.AttributeValueMemberS); ok {
			notes = append(notes, note.Value)
		}
	}
	slices.Sort(notes)
	return notes
}

func wantIndexed(t *testing.T, client *dynamodb.Client, index string, want ...string) {
	t.Helper()
	if got := indexed(t, client, index); !slices.Equal(got, want) {
		t.Errorf("after %v, the index %s shows %v, want %v", time.Since(virtualStart()), index, got, want)
	}
}

func virtualStart() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func noted(sk, note string) item {
	return with(key("a", sk), item{"org": str("o"), "created": str("c" + sk), "note": str(note)})
}

func TestIndexShowsWriteAfterLag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := lagging(t, map[string]time.Duration{"whole": 10 * time.Second, "byOrg": 4 * time.Second})
		put(t, client, noted("1", "new"))
		wantItem(t, get(t, client, key("a", "1")), noted("1", "new"))
		wantIndexed(t, client, "whole")
		<-time.After(4 * time.Second)
		wantIndexed(t, client, "whole")
		wantIndexed(t, client, "byOrg", "new")
		<-time.After(6 * time.Second)
		wantIndexed(t, client, "whole", "new")

		put(t, client, noted("1", "changed"))
		wantIndexed(t, client, "whole", "new")
		<-time.After(10 * time.Second)
		wantIndexed(t, client, "whole", "changed")

		if _, err := client.DeleteItem(t.Context(),
			&dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a", "1")}); err != nil {
			t.Fatal(err)
		}
		wantIndexed(t, client, "whole", "changed")
		<-time.After(10 * time.Second)
		wantIndexed(t, client, "whole")
	})
}

func TestIndexMovesEntryAfterKeyChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lag := map[string]time.Duration{}
		client := lagging(t, lag)
		put(t, client, noted("1", "here"))
		lag["whole"] = time.Minute
		moved := noted("1", "moved")
		moved["org"] = str("other")
		put(t, client, moved)
		wantIndexed(t, client, "whole", "here")
		wantIndexed(t, client, "byOrg")
		<-time.After(time.Minute)
		wantIndexed(t, client, "whole")
	})
}

func TestIndexAppliesRowChangesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lag := map[string]time.Duration{"whole": 10 * time.Second}
		client := lagging(t, lag)
		put(t, client, noted("1", "first"))
		lag["whole"] = time.Second
		put(t, client, noted("1", "second"))
		put(t, client, noted("2", "quick"))
		<-time.After(time.Second)
		wantIndexed(t, client, "whole", "quick") // row 1's delay does not affect row 2
		lag["whole"] = 0
		put(t, client, noted("1", "third"))
		wantIndexed(t, client, "whole", "quick")
		<-time.After(9*time.Second - 1)
		wantIndexed(t, client, "whole", "quick")
		<-time.After(1)
		wantIndexed(t, client, "whole", "quick", "third")
	})
}

func TestIndexAppliesDueChangesOnFirstRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lag := map[string]time.Duration{"whole": time.Second}
		client := lagging(t, lag)
		put(t, client, noted("1", "first"))
		<-time.After(time.Minute)
		lag["whole"] = 0
		put(t, client, noted("1", "second")) // the first change is due but not applied yet
		wantIndexed(t, client, "whole", "second")
	})
}

func TestRestartAppliesDelayedIndexChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		journal := &memoryJournal{}
		server := ddb.New(journal)
		client := clientOf(server)
		createWork(t, client)
		server.LagIndexes(func(string, string) time.Duration { return time.Hour })
		put(t, client, noted("1", "kept"))
		wantIndexed(t, client, "whole")
		wantIndexed(t, journal.restart(t), "whole", "kept")
	})
}
