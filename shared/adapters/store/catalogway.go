package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/shared/catalog"
)

// Way implements flow.Catalog.
func (s Portals) Way(ctx context.Context, endpointID, brandID string) (catalog.Way, error) {
	row, err := get(ctx, s.DB, s.Table, wayKey(endpointID, brandID))
	if err != nil {
		return catalog.Way{}, err
	}
	way := catalog.Way{EndpointID: endpointID, Asked: brandID, BrandID: row.text("brand_id")}
	return way, row.json("portals", &way.Portals)
}

// SaveWays implements publish.EndpointRows.
func (s Portals) SaveWays(ctx context.Context, fence int64, ways []catalog.Way) error {
	writes := make([]types.TransactWriteItem, 0, len(ways))
	for _, way := range ways {
		row := newItem(wayKey(way.EndpointID, way.Asked))
		row.setText("brand_id", way.BrandID)
		row.setInt("fence", fence)
		if err := row.setJSON("portals", way.Portals); err != nil {
			return err
		}
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{
			TableName: &s.Table, Item: row, ConditionExpression: aws.String(absent + " OR fence <= :fence"),
			ExpressionAttributeValues: item{":fence": number(fence)},
		}})
	}
	return transact(ctx, s.DB, writes...)
}
