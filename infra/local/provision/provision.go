// Package provision creates a template's resources, as CloudFormation does in a deployment: tables, queues, buckets,
// keys, secrets and SSM parameters. The package uses the standard AWS SDK clients, so it works with any implementation
// of AWS.
//
// The package never deletes a resource or changes an existing one in a way that affects its data. Features that have no
// use on a laptop (encryption, backups, lifecycle rules and policies) are skipped. Package template defines the
// properties that configure the skipped features.
package provision

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	secrettypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"recordbridge/infra/local/template"
)

// Apply creates the resources of t that do not exist yet. Apply never changes existing rows, messages, objects, keys or
// secret values. Apply updates declared settings: queue attributes and the values of SSM parameters, which may contain
// this run's URL. Apply returns an error if an existing table has different keys or indexes, because functions could
// not use it. Apply joins the first error of each service. After fixing the cause of an error, call Apply again.
func Apply(ctx context.Context, cfg aws.Config, t *template.Template) error {
	queues, buckets := sqs.NewFromConfig(cfg), s3.NewFromConfig(cfg)
	keys, secrets, parameters := kms.NewFromConfig(cfg), secretsmanager.NewFromConfig(cfg), ssm.NewFromConfig(cfg)
	return errors.Join(
		Tables(ctx, dynamodb.NewFromConfig(cfg), t.Tables),
		each(t.Queues, func(x template.Queue) error { return createQueue(ctx, queues, x) }),
		each(t.Buckets, func(x template.Bucket) error { return createBucket(ctx, buckets, x) }),
		each(t.Keys, func(x template.Key) error { return createKey(ctx, keys, x) }),
		each(t.Secrets, func(x template.Secret) error { return createSecret(ctx, secrets, x) }),
		each(t.Parameters, func(x template.Parameter) error { return putParameter(ctx, parameters, x) }),
	)
}

// Tables creates the tables that do not exist yet, as Apply does. Tests that need only tables call Tables, which avoids
// linking the other services' SDK clients.
func Tables(ctx context.Context, client *dynamodb.Client, tables []template.Table) error {
	return each(tables, func(x template.Table) error { return createTable(ctx, client, x) })
}

func each[T any](all []T, create func(T) error) error {
	for _, x := range all {
		if err := create(x); err != nil {
			return err
		}
	}
	return nil
}

func createQueue(ctx context.Context, client *sqs.Client, q template.Queue) error {
	_, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &q.Name, Attributes: q.Attributes})
	if _, exists := errors.AsType[*sqstypes.QueueNameExists](err); exists {
		_, err = client.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &q.URL, Attributes: q.Attributes})
	}
	if err != nil {
		return fmt.Errorf("create queue %s: %w", q.LogicalID, err)
	}
	return nil
}

func createBucket(ctx context.Context, client *s3.Client, b template.Bucket) error {
	_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &b.Name})
	if _, exists := errors.AsType[*s3types.BucketAlreadyOwnedByYou](err); exists {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create bucket %s: %w", b.LogicalID, err)
	}
	return nil
}

// createKey creates a key and its alias. If an earlier run was interrupted after creating a key, that key remains
// unused.
func createKey(ctx context.Context, client *kms.Client, k template.Key) error {
	_, err := client.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: &k.Alias})
	if err == nil {
		return nil
	}
	if _, missing := errors.AsType[*kmstypes.NotFoundException](err); !missing {
		return fmt.Errorf("look for key %s: %w", k.LogicalID, err)
	}
	created, err := client.CreateKey(ctx, &kms.CreateKeyInput{
		Description: &k.LogicalID, KeySpec: kmstypes.KeySpec(k.Spec), KeyUsage: kmstypes.KeyUsageType(k.Usage),
	})
	if err != nil {
		return fmt.Errorf("create key %s: %w", k.LogicalID, err)
	}
	alias := kms.CreateAliasInput{AliasName: &k.Alias, TargetKeyId: created.KeyMetadata.KeyId}
	if _, err := client.CreateAlias(ctx, &alias); err != nil {
		return fmt.Errorf("name key %s: %w", k.LogicalID, err)
	}
	return nil
}

func createSecret(ctx context.Context, client *secretsmanager.Client, s template.Secret) error {
	value, err := generate(s)
	if err != nil {
		return fmt.Errorf("generate secret %s: %w", s.LogicalID, err)
	}
	_, err = client.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: &s.Name, SecretString: &value})
	if _, exists := errors.AsType[*secrettypes.ResourceExistsException](err); exists {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create secret %s: %w", s.LogicalID, err)
	}
	return nil
}

func putParameter(ctx context.Context, client *ssm.Client, p template.Parameter) error {
	_, err := client.PutParameter(ctx, &ssm.PutParameterInput{
		Name: &p.Name, Value: &p.Value, Type: ssmtypes.ParameterTypeString, Overwrite: new(true),
	})
	if err != nil {
		return fmt.Errorf("put parameter %s: %w", p.LogicalID, err)
	}
	return nil
}
