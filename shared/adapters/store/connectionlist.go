package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/words/org"
)

// HasConnections implements operator.ConnectionRows.
func (s Connections) HasConnections(ctx context.Context, tenant org.Tenant) (bool, error) {
	page, err := s.page(ctx, tenant, 1, nil)
	return err == nil && len(page.Items) > 0, err
}

// HasConnectionsAt implements operator.ConnectionRows.
func (s Connections) HasConnectionsAt(ctx context.Context, tenant org.Tenant, endpointID string) (bool, error) {
	found := map[string]bool{}
	err := s.connectedAt(ctx, tenant, map[string]bool{endpointID: true}, found)
	return found[endpointID], err
}

// ConnectedEndpoints looks up the endpoints at which any organisation's patients have connections.
type ConnectedEndpoints struct {
	Organisations Organisations
	Connections   Connections
}

// ConnectedAt implements publish.Connected. ConnectedAt reads the mode's connections only once, regardless of the
// number of endpoints.
func (s ConnectedEndpoints) ConnectedAt(ctx context.Context, mode string,
	endpoints map[string]bool,
) (map[string]bool, error) {
	tenants, err := s.Organisations.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, tenant := range tenants {
		if string(tenant.Mode) != mode {
			continue
		}
		if err := s.Connections.connectedAt(ctx, tenant, endpoints, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// connectedAt adds to found the given endpoints at which a tenant has connections. connectedAt stops once every
// endpoint has been found.
func (s Connections) connectedAt(ctx context.Context, tenant org.Tenant, endpoints, found map[string]bool) error {
	var after map[string]types.AttributeValue
	for len(found) < len(endpoints) {
		page, err := s.page(ctx, tenant, connectionPage, after)
		if err != nil {
			return err
		}
		for _, listed := range page.Items { // the index contains only keys
			row, err := get(ctx, s.DB, s.Table, key{item(listed).text("pk"), item(listed).text("sk")})
			if err != nil {
				return err
			}
			if at := row.text("endpoint_id"); endpoints[at] {
				found[at] = true
			}
		}
		if after = page.LastEvaluatedKey; len(after) == 0 {
			return nil
		}
	}
	return nil
}

const connectionPage = 200

func (s Connections) page(ctx context.Context, tenant org.Tenant, limit int32,
	after item,
) (*dynamodb.QueryOutput, error) {
	out, err := s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.Table, IndexName: aws.String("byOrg"), KeyConditionExpression: aws.String("org_list = :list"),
		ExpressionAttributeValues: item{":list": text(listKey(tenant, "CONN"))}, Limit: aws.Int32(limit),
		ExclusiveStartKey: after,
	})
	if err != nil {
		return nil, fmt.Errorf("list connections: %w", err)
	}
	return out, nil
}
