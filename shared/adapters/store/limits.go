package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/platform/ratelimit"
)

// Take implements httpapi.Buckets. Without concurrent requests, a full bucket needs one conditional update, and any
// other bucket needs two. A rejected request writes nothing. If Take loses a race, it gets the bucket's time from the
// failed condition, without a separate read of the row (package retry). Each concurrent request that wins uses up part
// of the limit, so the number of attempts is bounded.
func (s Flow) Take(ctx context.Context, bucket string, limit ratelimit.Limit,
	now time.Time,
) (ratelimit.Decision, error) {
	var stored int64 // bucket's time at the last attempt; 0 before the first attempt or if there is no row
	for {
		next, decision := ratelimit.GCRA(time.UnixMicro(stored), now, limit)
		if !decision.Allowed {
			return decision, nil
		}
		_, err := s.DB.UpdateItem(ctx, s.taking(bucket, stored, next, now))
		refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
		switch {
		case ok:
			stored = item(refused.Item).int("tat")
		case err != nil:
			return ratelimit.Decision{}, fmt.Errorf("take from bucket: %w", err)
		default:
			return decision, nil
		}
	}
}

// taking returns the update that sets a bucket's time to next. The update fails if the values on which the decision was
// based have changed, so two requests never take the same slot.
func (s Flow) taking(bucket string, stored int64, next, now time.Time) *dynamodb.UpdateItemInput {
	in := &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: limitKey(bucket).attributes(), UpdateExpression: aws.String("SET tat = :next, #ttl = :ttl"),
		ConditionExpression:      aws.String("attribute_not_exists(tat) OR tat <= :now"),
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: item{
			":next": number(next.UnixMicro()), ":ttl": number(next.Add(ttlGrace).Unix()), ":now": number(now.UnixMicro()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if stored != 0 {
		in.ConditionExpression = aws.String("tat = :seen")
		delete(in.ExpressionAttributeValues, ":now")
		in.ExpressionAttributeValues[":seen"] = number(stored)
	}
	return in
}
