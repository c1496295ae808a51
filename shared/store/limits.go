package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/ratelimit"
)

// Take implements httpapi.Buckets with one conditional update for a bucket that has refilled, and a second one for a
// bucket that has not. A refused request writes nothing.
func (s Flow) Take(ctx context.Context, bucket string, limit ratelimit.Limit, now time.Time) (ratelimit.Verdict, error) {
	next, verdict := ratelimit.GCRA(time.Time{}, now, limit)
	in := &dynamodb.UpdateItemInput{
		TableName: &s.Table, Key: limitKey(bucket).attributes(),
		UpdateExpression:    aws.String("SET tat = :next, #ttl = :ttl"),
		ConditionExpression: aws.String("attribute_not_exists(tat) OR tat <= :now"), ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: item{
			":next": number(next.UnixMicro()), ":now": number(now.UnixMicro()), ":ttl": number(now.Add(limit.Window + afterlife).Unix()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	_, err := s.DB.UpdateItem(ctx, in)
	for refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok; {
		stored := item(refused.Item).int("tat")
		if next, verdict = ratelimit.GCRA(time.UnixMicro(stored), now, limit); !verdict.Allowed {
			return verdict, nil
		}
		// The condition names the value that was decided on, so that two requests never share one place.
		in.ConditionExpression = aws.String("tat = :seen")
		in.ExpressionAttributeValues = item{
			":next": number(next.UnixMicro()), ":seen": number(stored), ":ttl": in.ExpressionAttributeValues[":ttl"],
		}
		_, err = s.DB.UpdateItem(ctx, in)
		refused, ok = errors.AsType[*types.ConditionalCheckFailedException](err)
	}
	if err != nil {
		return ratelimit.Verdict{}, fmt.Errorf("take from bucket: %w", err)
	}
	return verdict, nil
}
