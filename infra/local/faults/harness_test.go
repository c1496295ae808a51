package faults_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ses"
	sestypes "github.com/aws/aws-sdk-go-v2/service/ses/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"recordbridge/infra/local/aws"
	"recordbridge/infra/local/aws/wire"
	"recordbridge/infra/local/faults"
)

const caller = "ProbeFunction"

// bench is a cloud with a fault plan. It counts the caller's calls that reach a service.
type bench struct {
	cloud *aws.Cloud

	mu      sync.Mutex
	reached int
}

func newBench(t *testing.T, plan *faults.Plan) *bench {
	t.Helper()
	b := &bench{}
	cloud, err := aws.New(aws.Options{Middleware: []wire.Middleware{plan.Middleware(), b.count}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cloud.Close() })
	b.cloud = cloud
	b.prepare(t)
	return b
}

func (b *bench) count(next wire.Handler) wire.Handler {
	return func(w http.ResponseWriter, r *http.Request, c wire.Call) {
		if c.Caller == caller {
			b.mu.Lock()
			b.reached++
			b.mu.Unlock()
		}
		next(w, r, c)
	}
}

func (b *bench) reachedService() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reached
}

// prepare creates the resources that the calls use. Like provisioning, it runs without faults.
func (b *bench) prepare(t *testing.T) {
	t.Helper()
	ctx, cfg := t.Context(), b.cloud.Config("provision")
	_, err := dynamodb.NewFromConfig(cfg).CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: awssdk.String("items"), BillingMode: ddbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: awssdk.String("pk"), AttributeType: "S"}},
		KeySchema:            []ddbtypes.KeySchemaElement{{AttributeName: awssdk.String("pk"), KeyType: "HASH"}},
	})
	check(t, err)
	_, err = s3.NewFromConfig(cfg).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: awssdk.String("exports")})
	check(t, err)
	_, err = sqs.NewFromConfig(cfg).CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: awssdk.String("q")})
	check(t, err)
	key, err := kms.NewFromConfig(cfg).CreateKey(ctx, &kms.CreateKeyInput{})
	check(t, err)
	_, err = kms.NewFromConfig(cfg).CreateAlias(ctx,
		&kms.CreateAliasInput{AliasName: awssdk.String("alias/k"), TargetKeyId: key.KeyMetadata.KeyId})
	check(t, err)
	_, err = secretsmanager.NewFromConfig(cfg).CreateSecret(ctx,
		&secretsmanager.CreateSecretInput{Name: awssdk.String("s"), SecretString: awssdk.String("x")})
	check(t, err)
	_, err = ssm.NewFromConfig(cfg).PutParameter(ctx, &ssm.PutParameterInput{
		Name: awssdk.String("/p"), Type: ssmtypes.ParameterTypeString, Value: awssdk.String("x"),
	})
	check(t, err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// once returns a configuration for clients that do not retry, so that tests see the original error.
func (b *bench) once() awssdk.Config {
	cfg := b.cloud.Config(caller)
	cfg.RetryMaxAttempts = 1
	return cfg
}

type call func(ctx context.Context, cfg awssdk.Config) error

func item(key string) map[string]ddbtypes.AttributeValue {
	return map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: key}}
}

func put(ctx context.Context, cfg awssdk.Config) error {
	_, err := dynamodb.NewFromConfig(cfg).PutItem(ctx,
		&dynamodb.PutItemInput{TableName: awssdk.String("items"), Item: item("a")})
	return err
}

func get(ctx context.Context, cfg awssdk.Config) error {
	_, err := dynamodb.NewFromConfig(cfg).GetItem(ctx,
		&dynamodb.GetItemInput{TableName: awssdk.String("items"), Key: item("a")})
	return err
}

func update(ctx context.Context, cfg awssdk.Config) error {
	_, err := dynamodb.NewFromConfig(cfg).UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: awssdk.String("items"), Key: item("a"), UpdateExpression: awssdk.String("ADD n :one"),
		ExpressionAttributeValues: map[string]ddbtypes.AttributeValue{":one": &ddbtypes.AttributeValueMemberN{Value: "1"}},
	})
	return err
}

func remove(ctx context.Context, cfg awssdk.Config) error {
	_, err := dynamodb.NewFromConfig(cfg).DeleteItem(ctx,
		&dynamodb.DeleteItemInput{TableName: awssdk.String("items"), Key: item("a")})
	return err
}

func query(ctx context.Context, cfg awssdk.Config) error {
	_, err := dynamodb.NewFromConfig(cfg).Query(ctx, &dynamodb.QueryInput{
		TableName: awssdk.String("items"), KeyConditionExpression: awssdk.String("pk = :pk"),
		ExpressionAttributeValues: map[string]ddbtypes.AttributeValue{":pk": &ddbtypes.AttributeValueMemberS{Value: "a"}},
	})
	return err
}

func transact(ctx context.Context, cfg awssdk.Config) error {
	writes := make([]ddbtypes.TransactWriteItem, 0, 3)
	for _, key := range []string{"x", "y", "z"} {
		writes = append(writes,
			ddbtypes.TransactWriteItem{Put: &ddbtypes.Put{TableName: awssdk.String("items"), Item: item(key)}})
	}
	_, err := dynamodb.NewFromConfig(cfg).TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	return err
}

func send(ctx context.Context, cfg awssdk.Config) error {
	_, err := sqs.NewFromConfig(cfg).SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: awssdk.String("http://127.0.0.1:4566/000000000000/q"), MessageBody: awssdk.String("hello"),
	})
	return err
}

func upload(ctx context.Context, cfg awssdk.Config) error {
	_, err := s3.NewFromConfig(cfg).PutObject(ctx, &s3.PutObjectInput{
		Bucket: awssdk.String("exports"), Key: awssdk.String("file"), Body: strings.NewReader(strings.Repeat("line\n", 2000)),
	})
	return err
}

func head(ctx context.Context, cfg awssdk.Config) error {
	_, err := s3.NewFromConfig(cfg).HeadObject(ctx,
		&s3.HeadObjectInput{Bucket: awssdk.String("exports"), Key: awssdk.String("file")})
	return err
}

func erase(ctx context.Context, cfg awssdk.Config) error {
	_, err := s3.NewFromConfig(cfg).DeleteObject(ctx,
		&s3.DeleteObjectInput{Bucket: awssdk.String("exports"), Key: awssdk.String("file")})
	return err
}

func dataKey(ctx context.Context, cfg awssdk.Config) error {
	_, err := kms.NewFromConfig(cfg).GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: awssdk.String("alias/k"), KeySpec: kmstypes.DataKeySpecAes256,
	})
	return err
}

func readSecret(ctx context.Context, cfg awssdk.Config) error {
	_, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: awssdk.String("s")})
	return err
}

func readParameter(ctx context.Context, cfg awssdk.Config) error {
	_, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: awssdk.String("/p")})
	return err
}

func mail(ctx context.Context, cfg awssdk.Config) error {
	_, err := ses.NewFromConfig(cfg).SendEmail(ctx, &ses.SendEmailInput{
		Source:      awssdk.String("no-reply@example.com"),
		Destination: &sestypes.Destination{ToAddresses: []string{"alder@example.org"}},
		Message: &sestypes.Message{
			Subject: &sestypes.Content{Data: awssdk.String("Hello")},
			Body:    &sestypes.Body{Text: &sestypes.Content{Data: awssdk.String("Text")}},
		},
	})
	return err
}
