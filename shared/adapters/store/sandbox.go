package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/words/fault"
)

// Sandbox stores the synthetic EHR's state (codes, grants and tokens) as bytes in a separate table.
type Sandbox struct {
	DB    DB
	Table string
}

// Put implements the sandbox's oauth.Store. The write is unconditional, because concurrent writers can't violate an
// invariant of these rows.
func (s Sandbox) Put(ctx context.Context, name string, value []byte, expires time.Time) error {
	if _, err := s.DB.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.Table,
		Item:      sandboxItem(name, value, expires),
	}); err != nil {
		return fmt.Errorf("put record: %w", err)
	}
	return nil
}

// Get implements the sandbox's oauth.Store.
func (s Sandbox) Get(ctx context.Context, name string) ([]byte, bool, error) {
	row, err := get(ctx, s.DB, s.Table, sandboxKey(name))
	if errors.Is(err, fault.NotFound) {
		return nil, false, nil
	}
	return row.bytes("value"), err == nil, err
}

// Swap implements the sandbox's oauth.Store with a compare-and-swap on the value. If old is nil, Swap creates the row.
func (s Sandbox) Swap(ctx context.Context, name string, old, value []byte, expires time.Time) (bool, error) {
	in := &dynamodb.PutItemInput{
		TableName: &s.Table, Item: sandboxItem(name, value, expires), ConditionExpression: aws.String(absent),
	}
	if old != nil {
		seen := item{}
		seen.setBytes(":seen", old)
		in.ConditionExpression, in.ExpressionAttributeValues = aws.String("#value = :seen"), seen
		in.ExpressionAttributeNames = map[string]string{"#value": "value"}
	}
	_, err := s.DB.PutItem(ctx, in)
	if err = translate(err); errors.Is(err, fault.Conflict) {
		return false, nil
	}
	return err == nil, err
}

func sandboxItem(name string, value []byte, expires time.Time) item {
	row := newItem(sandboxKey(name))
	row.setBytes("value", value)
	row.setInt("ttl", expires.Add(ttlGrace).Unix())
	return row
}
