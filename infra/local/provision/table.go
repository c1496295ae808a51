package provision

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"recordbridge/infra/local/template"
)

// createTable creates a table and enables its time to live. If the table already exists, createTable checks that its
// keys and indexes match the declaration.
func createTable(ctx context.Context, client *dynamodb.Client, t template.Table) error {
	in := dynamodb.CreateTableInput{
		TableName: &t.Name, BillingMode: types.BillingModePayPerRequest,
		KeySchema: elements(t.Key),
	}
	for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
		kind := types.ScalarAttributeType(t.Attributes[name])
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &name, AttributeType: kind})
	}
	for _, x := range t.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &x.Name, KeySchema: elements(x.Key),
			Projection: &types.Projection{ProjectionType: types.ProjectionType(x.Projection)},
		})
	}
	_, err := client.CreateTable(ctx, &in)
	if _, exists := errors.AsType[*types.ResourceInUseException](err); exists {
		err = sameShape(ctx, client, t)
	}
	if err != nil {
		return fmt.Errorf("create table %s: %w", t.LogicalID, err)
	}
	if t.TTLAttribute == "" {
		return nil
	}
	return expire(ctx, client, t)
}

func elements(k template.KeySchema) []types.KeySchemaElement {
	all := []types.KeySchemaElement{{AttributeName: &k.Hash, KeyType: types.KeyTypeHash}}
	if k.Range != "" {
		all = append(all, types.KeySchemaElement{AttributeName: &k.Range, KeyType: types.KeyTypeRange})
	}
	return all
}

// sameShape returns an error if the existing table has different keys or indexes, for example because an earlier
// template created it.
func sameShape(ctx context.Context, client *dynamodb.Client, t template.Table) error {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.Name})
	if err != nil {
		return fmt.Errorf("look at the table: %w", err)
	}
	got := map[string]template.KeySchema{"": schema(out.Table.KeySchema)}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		got[aws.ToString(x.IndexName)] = schema(x.KeySchema)
	}
	want := map[string]template.KeySchema{"": t.Key}
	for _, x := range t.Indexes {
		want[x.Name] = x.Key
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("%w: start with an empty data folder", errOtherShape)
	}
	return nil
}

var errOtherShape = errors.New("it exists with other keys or indexes than the template declares")

func schema(elements []types.KeySchemaElement) template.KeySchema {
	var k template.KeySchema
	for _, e := range elements {
		if e.KeyType == types.KeyTypeHash {
			k.Hash = aws.ToString(e.AttributeName)
		} else {
			k.Range = aws.ToString(e.AttributeName)
		}
	}
	return k
}

// expire enables time to live on a table. It first checks the current setting, because DynamoDB returns an error if
// time to live is already enabled.
func expire(ctx context.Context, client *dynamodb.Client, t template.Table) error {
	now, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &t.Name})
	if err != nil {
		return fmt.Errorf("look at the expiry of table %s: %w", t.LogicalID, err)
	}
	if d := now.TimeToLiveDescription; d != nil && d.TimeToLiveStatus == types.TimeToLiveStatusEnabled &&
		aws.ToString(d.AttributeName) == t.TTLAttribute {
		return nil
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &t.Name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &t.TTLAttribute, Enabled: new(true)},
	})
	if err != nil {
		return fmt.Errorf("set the expiry of table %s: %w", t.LogicalID, err)
	}
	return nil
}
