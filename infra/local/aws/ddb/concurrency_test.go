package ddb_test

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestConditionalUpdateLetsOneConcurrentClaimSucceed(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	var winners, losers atomic.Int32
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{
				TableName: aws.String(table), Item: with(key("lease", "1"), item{"owner_id": num(strconv.Itoa(i))}),
				ConditionExpression: aws.String("attribute_not_exists(pk)"),
			})
			if err == nil {
				winners.Add(1)
			} else if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
				losers.Add(1)
			}
		})
	}
	wg.Wait()
	if winners.Load() != 1 || losers.Load() != 31 {
		t.Errorf("got %d winners and %d losers, want 1 and 31", winners.Load(), losers.Load())
	}
}

func TestConcurrentIncrementsAreNotLost(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				if err := untilNoConflict(t.Context(), func() error {
					return transact(t, client, "", txUpdate(key("count", "1"), "ADD n :v", item{":v": num("1")}))
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantItem(t, get(t, client, key("count", "1")), item{"pk": str("count"), "sk": str("1"), "n": num("320")})
}

func TestReadsNeverReturnPartialTransaction(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	both := func(v string) []types.TransactWriteItem {
		return []types.TransactWriteItem{
			txPut(with(key("pair", "1"), item{"n": num(v)}), ""),
			txPut(with(key("pair", "2"), item{"n": num(v)}), ""),
		}
	}
	if err := transact(t, client, "", both("0")...); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 25 {
				if err := untilNoConflict(t.Context(), func() error {
					return transact(t, client, "", both(strconv.Itoa(100*i+j))...)
				}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				out, err := client.Query(t.Context(), queryInput("pk = :p", item{":p": str("pair")}))
				if err != nil {
					t.Error(err)
					return
				}
				wantItem(t, item{"n": out.Items[0]["n"]}, item{"n": out.Items[1]["n"]})
			}
		})
	}
	wg.Wait()
}
