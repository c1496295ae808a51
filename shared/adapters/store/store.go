// Package store stores the rows of every domain in DynamoDB, with one file per domain and all keys in keys.go and
// indexkeys.go. Every write is conditional, and every read that a decision depends on is strongly consistent. The
// package never uses Scan, and it accesses a tenant's rows only through the tenant. Business rules belong in the domain
// packages. The package's errors include fault.NotFound and fault.Conflict.
package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/retry"
)

// DB is the part of the DynamoDB client that the stores use.
type DB interface {
	GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
		o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput,
		o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
		o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Work accesses the Work table. Each kind of row has its own type, converted from Work, so a function's wiring shows
// which rows it can access.
type Work struct {
	DB    DB
	Table string
}

// Control is the Control table. As with Work, each kind of row has its own type converted from Control.
type Control struct {
	DB    DB
	Table string
}

// firstPause is the delay before the first retry of a write that conflicted with a transaction on the same row. The
// delay is longer than a transaction and doubles with each retry.
const firstPause = 10 * time.Millisecond

// get reads one row with strong consistency. It returns fault.NotFound if the row does not exist.
func get(ctx context.Context, db DB, table string, k key) (item, error) {
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &table, Key: k.attributes(),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("get item: %w", err)
	}
	if len(out.Item) == 0 {
		return nil, fault.Missing("Record not found.")
	}
	return out.Item, nil
}

// create stores a new row. It returns fault.Conflict if the row exists.
func create(ctx context.Context, db DB, table string, row item) error {
	return persist(ctx, func() error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &table, Item: row,
			ConditionExpression: aws.String(absent),
		})
		return err
	})
}

// replace replaces revision rev of a row. It returns fault.Conflict if the stored revision differs.
func replace(ctx context.Context, db DB, table string, row item, rev int64) error {
	row.setInt("rev", rev+1)
	return persist(ctx, func() error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &table, Item: row, ConditionExpression: aws.String("rev = :rev"),
			ExpressionAttributeValues: item{":rev": number(rev)},
		})
		return err
	})
}

// update applies u and returns the updated row. It returns fault.Conflict if the condition fails.
func update(ctx context.Context, db DB, u change) (item, error) {
	var row item
	failure := persist(ctx, func() error {
		out, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &u.table, Key: u.key.attributes(), UpdateExpression: &u.set, ConditionExpression: &u.when,
			ExpressionAttributeNames: u.names, ExpressionAttributeValues: u.values, ReturnValues: types.ReturnValueAllNew,
		})
		if err == nil {
			row = out.Attributes
		}
		return err
	})
	return row, failure
}

// remove deletes the row that u identifies and returns its contents. If the condition fails, it returns fault.Conflict
// wrapping a types.ConditionalCheckFailedException that contains the row.
func remove(ctx context.Context, db DB, u change) (item, error) {
	var row item
	failure := persist(ctx, func() error {
		out, err := db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &u.table, Key: u.key.attributes(), ConditionExpression: &u.when,
			ExpressionAttributeValues: u.values, ReturnValues: types.ReturnValueAllOld,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		if err == nil {
			row = out.Attributes
		}
		return err
	})
	return row, failure
}

// change is a conditional update or deletion of a single row.
type change struct {
	table  string
	key    key
	set    string // update expression
	when   string // condition expression
	names  map[string]string
	values item
}

func (u change) write() types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &u.table, Key: u.key.attributes(), UpdateExpression: &u.set, ConditionExpression: &u.when,
		ExpressionAttributeNames: u.names, ExpressionAttributeValues: u.values,
	}}
}

// absent is the condition of every create operation.
const absent = "attribute_not_exists(pk)"

func putNew(table string, row item) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: &table, Item: row, ConditionExpression: aws.String(absent)}}
}

// putOver returns the write that replaces revision rev of a row.
func putOver(table string, row item, rev int64) types.TransactWriteItem {
	row.setInt("rev", rev+1)
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &table, Item: row, ConditionExpression: aws.String("rev = :rev"),
		ExpressionAttributeValues: item{":rev": number(rev)},
	}}
}

// removal returns the write that deletes revision rev of a row.
func removal(table string, k key, rev int64) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &table, Key: k.attributes(), ConditionExpression: aws.String("rev = :rev"),
		ExpressionAttributeValues: item{":rev": number(rev)},
	}}
}

// unlist deletes a row that depends on a row being removed. The dependent row might not exist: for example, a webhook
// has no health row before its first delivery.
func unlist(table string, k key) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{TableName: &table, Key: k.attributes()}}
}

// transact applies all of the writes or none. It returns fault.Conflict if a condition fails.
func transact(ctx context.Context, db DB, writes ...types.TransactWriteItem) error {
	return persist(ctx, func() error {
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
		return err
	})
}

// persist performs a write and translates its error. If the write collides with a transaction in progress, DynamoDB
// doesn't evaluate the write's condition. persist retries such a write after a random pause so that the colliding
// writers don't retry at the same time.
func persist(ctx context.Context, write func() error) error {
	again := retry.Policy{Tries: retry.Tries, Again: collided, Pause: firstPause, Most: 0, Random: rand.Float64}
	return translate(again.Do(ctx, write))
}

// collided reports whether a write failed only because of conflicts with other writers.
func collided(err error) bool {
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		return true
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return false
	}
	met := false
	for _, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "TransactionConflict":
			met = true
		case "None", "":
		default:
			return false
		}
	}
	return met
}

// translate converts a failed condition, or a conflict that outlasted its retries, to fault.Conflict.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok || collided(err) {
		return fault.Stale().Because(err)
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, reason := range cancelled.CancellationReasons {
			if aws.ToString(reason.Code) == "ConditionalCheckFailed" {
				return fault.Stale().Because(err)
			}
		}
	}
	return fmt.Errorf("write to the store: %w", err)
}
