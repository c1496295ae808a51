package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/template"
)

// probe is a call that a function must not be permitted to make.
type probe struct {
	action, resource string
	call             func(ctx context.Context, cfg awssdk.Config) error
}

// TestFunctionsAreDeniedUngrantedActions makes each function attempt, on every resource, every action that the template
// does not grant it. Each function also attempts its granted actions on other functions' rows, and for purposes not
// granted to it.
func TestFunctionsAreDeniedUngrantedActions(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	synctest.Test(t, func(t *testing.T) {
		s := newStack(t, options{})
		s.expectDenials = true
		all := probes(s.template)
		for _, f := range s.template.Functions {
			refused := 0
			for _, p := range all {
				if mayUnconditionally(f, p) {
					continue
				}
				err := p.call(t.Context(), s.cloud.Config(f.LogicalID))
				if failure, ok := errors.AsType[smithy.APIError](err); !ok ||
					!strings.HasPrefix(failure.ErrorCode(), "AccessDenied") {
					t.Errorf("%s %s on %s: %v", f.LogicalID, p.action, p.resource, err)
				}
				refused++
			}
			if refused < len(all)/2 {
				t.Errorf("%s was only refused %d of %d calls", f.LogicalID, refused, len(all))
			}
		}
	})
}

// mayUnconditionally reports whether a function may make the probe's call unconditionally. The rows and purposes in
// probes belong to no function, so conditional statements never match.
func mayUnconditionally(f template.Function, p probe) bool {
	return slices.ContainsFunc(f.Statements, func(s template.Statement) bool {
		return slices.Contains(s.Actions, p.action) && slices.Contains(s.Resources, p.resource) && len(s.Condition) == 0
	})
}

func probes(t *template.Template) []probe {
	var all []probe
	for _, table := range t.Tables {
		all = append(all, tableProbes(table)...)
	}
	for _, queue := range t.Queues {
		all = append(all, queueProbes(queue)...)
	}
	for _, bucket := range t.Buckets {
		all = append(all, bucketProbes(bucket)...)
	}
	for _, key := range t.Keys {
		all = append(all, keyProbes(key)...)
	}
	for _, secret := range t.Secrets {
		all = append(all, probe{
			"secretsmanager:GetSecretValue", secret.ARN,
			func(ctx context.Context, cfg awssdk.Config) error {
				_, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx,
					&secretsmanager.GetSecretValueInput{SecretId: &secret.ARN})
				return err
			},
		})
	}
	for _, parameter := range t.Parameters {
		arn := "arn:aws:ssm:us-east-1:000000000000:parameter" + parameter.Name
		all = append(all, probe{"ssm:GetParameter", arn, func(ctx context.Context, cfg awssdk.Config) error {
			_, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: &parameter.Name})
			return err
		}})
	}
	return all
}

func tableProbes(table template.Table) []probe {
	key := map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: "NOBODY#1"},
		"sk": &types.AttributeValueMemberS{Value: "META"},
	}
	of := func(action string, call func(ctx context.Context, db *dynamodb.Client) error) probe {
		return probe{"dynamodb:" + action, table.ARN, func(ctx context.Context, cfg awssdk.Config) error {
			return call(ctx, dynamodb.NewFromConfig(cfg))
		}}
	}
	return []probe{
		of("GetItem", func(ctx context.Context, db *dynamodb.Client) error {
			_, err := db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table.Name, Key: key})
			return err
		}),
		of("PutItem", func(ctx context.Context, db *dynamodb.Client) error {
			_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table.Name, Item: key})
			return err
		}),
		of("UpdateItem", func(ctx context.Context, db *dynamodb.Client) error {
			_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &table.Name, Key: key})
			return err
		}),
		of("DeleteItem", func(ctx context.Context, db *dynamodb.Client) error {
			_, err := db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table.Name, Key: key})
			return err
		}),
		of("Query", func(ctx context.Context, db *dynamodb.Client) error {
			_, err := db.Query(ctx, &dynamodb.QueryInput{
				TableName: &table.Name, KeyConditionExpression: awssdk.String("pk = :pk"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":pk": key["pk"]},
			})
			return err
		}),
		of("BatchGetItem", func(ctx context.Context, db *dynamodb.Client) error {
			_, err := db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				table.Name: {Keys: []map[string]types.AttributeValue{key}},
			}})
			return err
		}),
	}
}

func queueProbes(queue template.Queue) []probe {
	of := func(action string, call func(ctx context.Context, client *sqs.Client) error) probe {
		return probe{
			"sqs:" + action, queue.ARN,
			func(ctx context.Context, cfg awssdk.Config) error { return call(ctx, sqs.NewFromConfig(cfg)) },
		}
	}
	return []probe{
		of("SendMessage", func(ctx context.Context, client *sqs.Client) error {
			_, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &queue.URL, MessageBody: awssdk.String("x")})
			return err
		}),
		of("ReceiveMessage", func(ctx context.Context, client *sqs.Client) error {
			_, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &queue.URL})
			return err
		}),
		of("PurgeQueue", func(ctx context.Context, client *sqs.Client) error {
			_, err := client.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &queue.URL})
			return err
		}),
	}
}

func bucketProbes(bucket template.Bucket) []probe {
	objects, name := bucket.ARN+"/*", awssdk.String("somebody/else")
	of := func(action, resource string, call func(ctx context.Context, client *s3.Client) error) probe {
		return probe{"s3:" + action, resource, func(ctx context.Context,
			cfg awssdk.Config,
		) error {
			return call(ctx, s3.NewFromConfig(cfg))
		}}
	}
	return []probe{
		of("GetObject", objects, func(ctx context.Context, client *s3.Client) error {
			_, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket.Name, Key: name})
			return err
		}),
		of("PutObject", objects, func(ctx context.Context, client *s3.Client) error {
			_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket.Name, Key: name, Body: bytes.NewReader(nil)})
			return err
		}),
		of("DeleteObject", objects, func(ctx context.Context, client *s3.Client) error {
			_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket.Name, Key: name})
			return err
		}),
		of("ListBucket", bucket.ARN, func(ctx context.Context, client *s3.Client) error {
			_, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket.Name})
			return err
		}),
	}
}

func keyProbes(key template.Key) []probe {
	return []probe{
		{"kms:GenerateDataKey", key.ARN, func(ctx context.Context, cfg awssdk.Config) error {
			_, err := kms.NewFromConfig(cfg).GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
				KeyId: &key.ARN, KeySpec: kmstypes.DataKeySpecAes256, EncryptionContext: map[string]string{"purpose": "nobody's"},
			})
			return err
		}},
		{"kms:Encrypt", key.ARN, func(ctx context.Context, cfg awssdk.Config) error {
			_, err := kms.NewFromConfig(cfg).Encrypt(ctx, &kms.EncryptInput{KeyId: &key.ARN, Plaintext: []byte("x")})
			return err
		}},
	}
}
