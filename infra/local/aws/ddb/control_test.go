package ddb_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
)

func TestACreatedTableIsActiveAndDescribed(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	put(t, client, item{"pk": str("a"), "sk": str("1"), "org": str("o")})
	waiter := dynamodb.NewTableExistsWaiter(client)
	out, err := waiter.WaitForOutput(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(table)}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	got := out.Table
	if aws.ToString(got.TableName) != table || got.TableStatus != types.TableStatusActive || aws.ToInt64(got.ItemCount) != 1 {
		t.Errorf("got %s %s with %d items, want %s ACTIVE with 1", aws.ToString(got.TableName), got.TableStatus, aws.ToInt64(got.ItemCount), table)
	}
	counts := map[string]int64{}
	for _, index := range got.GlobalSecondaryIndexes {
		counts[aws.ToString(index.IndexName)] = aws.ToInt64(index.ItemCount)
	}
	if diff := cmp.Diff(map[string]int64{"byDue": 0, "byOrg": 0, "whole": 1}, counts); diff != "" {
		t.Errorf("index counts differ (-want +got):\n%s", diff)
	}
	_, err = client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("None")})
	wantRefusal(t, err, "ResourceNotFoundException", "Requested resource not found: Table: None not found")
}

func TestASecondTableOfOneNameIsRefused(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	_, err := client.CreateTable(t.Context(), workTable())
	wantRefusal(t, err, "ResourceInUseException", "Table already exists: Work")
}

func TestMalformedTablesAreRefused(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	tests := map[string]struct {
		change  func(in *dynamodb.CreateTableInput)
		message string
	}{
		"a short name":             {func(in *dynamodb.CreateTableInput) { in.TableName = aws.String("ab") }, "at least 3 characters long"},
		"an undefined key":         {func(in *dynamodb.CreateTableInput) { in.KeySchema = keySchema("pk", "none") }, "not defined in AttributeDefinitions. Keys: [none]"},
		"an unused attribute":      {func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes = nil }, "Number of attributes in KeySchema does not exactly match"},
		"one attribute as both":    {func(in *dynamodb.CreateTableInput) { in.KeySchema = keySchema("pk", "pk") }, "have the same name"},
		"two partition keys":       {func(in *dynamodb.CreateTableInput) { in.KeySchema[1].KeyType = types.KeyTypeHash }, "The second KeySchemaElement is not a RANGE key type"},
		"a sort key only":          {func(in *dynamodb.CreateTableInput) { in.KeySchema = in.KeySchema[1:] }, "The first KeySchemaElement is not a HASH key type"},
		"a key of no scalar type":  {func(in *dynamodb.CreateTableInput) { in.AttributeDefinitions[0].AttributeType = "SS" }, "Member must satisfy enum value set: [B, N, S]"},
		"throughput on demand":     {func(in *dynamodb.CreateTableInput) { in.ProvisionedThroughput = throughput() }, "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified"},
		"provisioned with nothing": {func(in *dynamodb.CreateTableInput) { in.BillingMode = types.BillingModeProvisioned }, "ReadCapacityUnits and WriteCapacityUnits must both be specified"},
		"two indexes of one name":  {func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[1].IndexName = aws.String("byDue") }, "Duplicate index name: byDue"},
		"an index without columns": {func(in *dynamodb.CreateTableInput) { in.GlobalSecondaryIndexes[1].Projection.NonKeyAttributes = nil }, "NonKeyAttributes is not specified"},
		"keys only with columns": {func(in *dynamodb.CreateTableInput) {
			in.GlobalSecondaryIndexes[0].Projection.NonKeyAttributes = []string{"x"}
		}, "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified"},
		"a stream": {func(in *dynamodb.CreateTableInput) {
			in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly}
		}, "StreamSpecification is not part of the embedded DynamoDB"},
		"a local index": {func(in *dynamodb.CreateTableInput) {
			in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{IndexName: aws.String("local"), KeySchema: keySchema("pk", "due"), Projection: &types.Projection{}}}
		}, "LocalSecondaryIndexes is not part of the embedded DynamoDB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := workTable()
			in.TableName = aws.String("Other")
			test.change(in)
			_, err := client.CreateTable(t.Context(), in)
			wantRefusal(t, err, "ValidationException", test.message)
		})
	}
}

func throughput() *types.ProvisionedThroughput {
	return &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)}
}

func TestTimeToLiveIsSwitchedOnOnce(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	wantTTL(t, client, types.TimeToLiveStatusDisabled)
	wantRefusal(t, updateTTL(t, client, false), "ValidationException", "TimeToLive is already disabled")
	if err := updateTTL(t, client, true); err != nil {
		t.Fatal(err)
	}
	wantTTL(t, client, types.TimeToLiveStatusEnabled)
	wantRefusal(t, updateTTL(t, client, true), "ValidationException", "TimeToLive is already enabled")
	if err := updateTTL(t, client, false); err != nil {
		t.Fatal(err)
	}
	wantTTL(t, client, types.TimeToLiveStatusDisabled)
}

func updateTTL(tb testing.TB, client *dynamodb.Client, enabled bool) error {
	tb.Helper()
	_, err := client.UpdateTimeToLive(tb.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(table),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expires"), Enabled: &enabled},
	})
	return err
}

func wantTTL(t *testing.T, client *dynamodb.Client, want types.TimeToLiveStatus) {
	t.Helper()
	out, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.TimeToLiveDescription.TimeToLiveStatus; got != want {
		t.Errorf("got time to live %s, want %s", got, want)
	}
}

func TestContinuousBackupsAreChecked(t *testing.T) {
	t.Parallel()
	client := newTable(t)
	update := func(enabled bool, days *int32) (*dynamodb.UpdateContinuousBackupsOutput, error) {
		return client.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
			TableName: aws.String(table),
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: &enabled, RecoveryPeriodInDays: days,
			},
		})
	}
	out, err := update(true, aws.Int32(7))
	if err != nil {
		t.Fatal(err)
	}
	recovery := out.ContinuousBackupsDescription.PointInTimeRecoveryDescription
	if recovery.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled || aws.ToInt32(recovery.RecoveryPeriodInDays) != 7 {
		t.Errorf("got %s for %d days, want ENABLED for 7", recovery.PointInTimeRecoveryStatus, aws.ToInt32(recovery.RecoveryPeriodInDays))
	}
	_, err = update(true, aws.Int32(36))
	wantRefusal(t, err, "ValidationException", "between 1 and 35")
}
