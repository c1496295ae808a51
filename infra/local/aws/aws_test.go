package aws_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strings"
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
)

// probe tests a single service. fill stores data under fixed names, and check verifies that it is intact.
type probe struct {
	service string
	fill    func(ctx context.Context, cfg awssdk.Config) error
	check   func(ctx context.Context, cfg awssdk.Config) error
}

var errGone = errors.New("what was stored is not there")

func probes() []probe {
	return []probe{
		{"dynamodb", fillTable, checkTable},
		{"s3", fillBucket, checkBucket},
		{"sqs", fillQueue, checkQueue},
		{"kms", fillKey, checkKey},
		{"secretsmanager", fillSecret, checkSecret},
		{"ssm", fillParameter, checkParameter},
	}
}

func fillTable(ctx context.Context, cfg awssdk.Config) error {
	client := dynamodb.NewFromConfig(cfg)
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: awssdk.String("items"), BillingMode: ddbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []ddbtypes.AttributeDefinition{{AttributeName: awssdk.String("pk"), AttributeType: "S"}},
		KeySchema:            []ddbtypes.KeySchemaElement{{AttributeName: awssdk.String("pk"), KeyType: "HASH"}},
	})
	if err != nil {
		return err
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: awssdk.String("items"), Item: item()})
	return err
}

func item() map[string]ddbtypes.AttributeValue {
	return map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: "a"}}
}

func checkTable(ctx context.Context, cfg awssdk.Config) error {
	out, err := dynamodb.NewFromConfig(cfg).GetItem(ctx,
		&dynamodb.GetItemInput{TableName: awssdk.String("items"), Key: item()})
	if err != nil {
		return err
	}
	return missing(len(out.Item) != 1)
}

func fillBucket(ctx context.Context, cfg awssdk.Config) error {
	client := s3.NewFromConfig(cfg)
	if _, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: awssdk.String("exports")}); err != nil {
		return err
	}
	_, err := client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: awssdk.String("exports"), Key: awssdk.String("a b/../ü.ndjson"), Body: bytes.NewReader([]byte("content")),
	})
	return err
}

func checkBucket(ctx context.Context, cfg awssdk.Config) error {
	out, err := s3.NewFromConfig(cfg).GetObject(ctx,
		&s3.GetObjectInput{Bucket: awssdk.String("exports"), Key: awssdk.String("a b/../ü.ndjson")})
	if err != nil {
		return err
	}
	content, err := io.ReadAll(out.Body)
	if err != nil {
		return err
	}
	return missing(string(content) != "content" || *out.ContentLength != 7)
}

func fillQueue(ctx context.Context, cfg awssdk.Config) error {
	client := sqs.NewFromConfig(cfg)
	url, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: awssdk.String("q")})
	if err != nil {
		return err
	}
	_, err = client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: awssdk.String("hello")})
	return err
}

func checkQueue(ctx context.Context, cfg awssdk.Config) error {
	client := sqs.NewFromConfig(cfg)
	url, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: awssdk.String("q")})
	if err != nil {
		return err
	}
	out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: url.QueueUrl})
	if err != nil {
		return err
	}
	return missing(len(out.Messages) != 1 || *out.Messages[0].Body != "hello")
}

func fillKey(ctx context.Context, cfg awssdk.Config) error {
	client := kms.NewFromConfig(cfg)
	key, err := client.CreateKey(ctx, &kms.CreateKeyInput{})
	if err != nil {
		return err
	}
	_, err = client.CreateAlias(ctx, &kms.CreateAliasInput{
		AliasName:   awssdk.String("alias/k"),
		TargetKeyId: key.KeyMetadata.KeyId,
	})
	if err != nil {
		return err
	}
	sealed, err := client.GenerateDataKey(ctx,
		&kms.GenerateDataKeyInput{KeyId: awssdk.String("alias/k"), KeySpec: kmstypes.DataKeySpecAes256})
	if err != nil {
		return err
	}
	// The description of a second key stores the data key, both encrypted and in plain text, because checkKey has no
	// state of its own.
	note := base64.StdEncoding.EncodeToString(sealed.CiphertextBlob) + " " +
		base64.StdEncoding.EncodeToString(sealed.Plaintext)
	described, err := client.CreateKey(ctx, &kms.CreateKeyInput{Description: &note})
	if err != nil {
		return err
	}
	_, err = client.CreateAlias(ctx, &kms.CreateAliasInput{
		AliasName:   awssdk.String("alias/note"),
		TargetKeyId: described.KeyMetadata.Arn,
	})
	return err
}

func checkKey(ctx context.Context, cfg awssdk.Config) error {
	client := kms.NewFromConfig(cfg)
	note, err := client.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: awssdk.String("alias/note")})
	if err != nil {
		return err
	}
	text, plain, _ := strings.Cut(*note.KeyMetadata.Description, " ")
	blob, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	out, err := client.Decrypt(ctx, &kms.DecryptInput{CiphertextBlob: blob})
	if err != nil {
		return err
	}
	return missing(base64.StdEncoding.EncodeToString(out.Plaintext) != plain)
}

func fillSecret(ctx context.Context, cfg awssdk.Config) error {
	client := secretsmanager.NewFromConfig(cfg)
	_, err := client.CreateSecret(ctx, &secretsmanager.CreateSecretInput{
		Name:         awssdk.String("s"),
		SecretString: awssdk.String("one"),
	})
	if err != nil {
		return err
	}
	_, err = client.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId:     awssdk.String("s"),
		SecretString: awssdk.String("two"),
	})
	return err
}

func checkSecret(ctx context.Context, cfg awssdk.Config) error {
	client := secretsmanager.NewFromConfig(cfg)
	out, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: awssdk.String("s")})
	if err != nil {
		return err
	}
	return missing(*out.SecretString != "two")
}

func fillParameter(ctx context.Context, cfg awssdk.Config) error {
	_, err := ssm.NewFromConfig(cfg).PutParameter(ctx, &ssm.PutParameterInput{
		Name: awssdk.String("/p"), Type: ssmtypes.ParameterTypeString, Value: awssdk.String("value"),
	})
	return err
}

func checkParameter(ctx context.Context, cfg awssdk.Config) error {
	out, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: awssdk.String("/p")})
	if err != nil {
		return err
	}
	return missing(*out.Parameter.Value != "value" || out.Parameter.Version != 1)
}

func sendMail(ctx context.Context, cfg awssdk.Config) error {
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

func missing(gone bool) error {
	if gone {
		return errGone
	}
	return nil
}

func newCloud(t *testing.T, o aws.Options) *aws.Cloud {
	t.Helper()
	cloud, err := aws.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cloud.Close() })
	return cloud
}
