package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"recordbridge/shared/export/known"
	"recordbridge/shared/words/fault"
)

// knownKey returns the key of a server's known facts, which are in a partition separate from the token endpoints' rows.
func knownKey(endpointID string) key { return key{"HOST#" + endpointID, "KNOWN"} }

// Known implements collect.Known.
func (s EndpointState) Known(ctx context.Context, endpointID string) (found known.Server, err error) {
	row, err := get(ctx, s.DB, s.Table, knownKey(endpointID))
	if errors.Is(err, fault.NotFound) {
		return known.Server{}, nil
	}
	if err != nil {
		return known.Server{}, err
	}
	return found, row.json("known", &found)
}

// SaveKnown implements collect.Known.
func (s EndpointState) SaveKnown(ctx context.Context, endpointID string, server known.Server, until time.Time) error {
	values := item{":ttl": number(until.Unix())}
	if err := values.setJSON(":known", server); err != nil {
		return err
	}
	return persist(ctx, func() error {
		_, err := s.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.Table, Key: knownKey(endpointID).attributes(),
			UpdateExpression:         aws.String("SET known = :known, #ttl = :ttl"),
			ExpressionAttributeNames: map[string]string{"#ttl": "ttl"}, ExpressionAttributeValues: values,
		})
		return err
	})
}
