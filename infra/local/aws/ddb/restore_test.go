package ddb_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws"
)

func TestRestoreReturnsRowsAtMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cloud, err := aws.New(aws.Options{})
		if err != nil {
			t.Fatal(err)
		}
		client, name := dynamodb.NewFromConfig(cloud.Config("test")), awssdk.String("items")
		if _, err = client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: name, BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: awssdk.String("pk"), AttributeType: "S"}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: awssdk.String("pk"), KeyType: "HASH"}},
		}); err != nil {
			t.Fatal(err)
		}
		row := func(id, value string) map[string]types.AttributeValue {
			return map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: id}, "value": &types.AttributeValueMemberS{Value: value},
			}
		}
		put := func(id, value string) {
			_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: row(id, value)})
			if err != nil {
				t.Fatal(err)
			}
		}
		restore := func(to string, moment time.Time) string {
			_, err = client.RestoreTableToPointInTime(t.Context(), &dynamodb.RestoreTableToPointInTimeInput{
				SourceTableName: name, TargetTableName: &to, RestoreDateTime: &moment,
			})
			if refusal, ok := errors.AsType[smithy.APIError](err); ok {
				return refusal.ErrorCode()
			}
			return ""
		}
		start := time.Now()
		if got := restore("none", start); got != "PointInTimeRecoveryUnavailableException" {
			t.Errorf("a restore without history: %q", got)
		}
		if _, err = client.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
			TableName: name, PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: awssdk.Bool(true),
			},
		}); err != nil {
			t.Fatal(err)
		}
		put("changed", "before")
		put("deleted", "before")
		<-time.After(time.Minute)
		moment := time.Now()
		<-time.After(time.Minute)
		put("changed", "after")
		put("created", "after")
		if _, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: name, Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "deleted"}},
		}); err != nil {
			t.Fatal(err)
		}
		if got := restore("restored", start.Add(-time.Minute)); got != "InvalidRestoreTimeException" {
			t.Errorf("a restore to a time before the history: %q", got)
		}
		if got := restore("restored", moment); got != "" {
			t.Errorf("a restore: %q", got)
		}
		if got := restore("restored", moment); got != "TableAlreadyExistsException" {
			t.Errorf("a second restore: %q", got)
		}
		for id, want := range map[string]string{"changed": "before", "deleted": "before", "created": ""} {
			got, failure := client.GetItem(t.Context(), &dynamodb.GetItemInput{
				TableName: awssdk.String("restored"),
				Key:       map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: id}},
			})
			if failure != nil {
				t.Fatal(failure)
			}
			value, _ := got.Item["value"].(*types.AttributeValueMemberS)
			if (value == nil) != (want == "") || value != nil && value.Value != want {
				t.Errorf("row %s is %v, want %q", id, got.Item, want)
			}
		}
		_, err = client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: awssdk.String("restored")})
		if err != nil {
			t.Fatal(err)
		}
		if got := restore("restored", moment); got != "" {
			t.Errorf("a restore after the deletion: %q", got)
		}
	})
}
