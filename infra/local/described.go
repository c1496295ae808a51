package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"recordbridge/infra/local/control"
	"recordbridge/infra/local/template"
)

// described returns CloudFormation's description of the stack, with the resources that operators' commands look up.
func (s *stack) described() control.Stack {
	all := map[string]control.Resource{}
	add := func(kind, logical, physical string) {
		all[logical] = control.Resource{Type: kind, Physical: func(context.Context) (string, error) { return physical, nil }}
	}
	for _, f := range s.template.Functions {
		add("AWS::Lambda::Function", f.LogicalID, f.Name)
		for _, q := range f.QueueTriggers {
			add("AWS::Lambda::EventSourceMapping", q.LogicalID, control.MappingID(stackName, f.LogicalID, q.QueueARN))
		}
	}
	for _, t := range s.template.Tables {
		add("AWS::DynamoDB::Table", t.LogicalID, t.Name)
	}
	for _, q := range s.template.Queues {
		add("AWS::SQS::Queue", q.LogicalID, q.URL)
	}
	for _, b := range s.template.Buckets {
		add("AWS::S3::Bucket", b.LogicalID, b.Name)
	}
	for _, x := range s.template.Secrets {
		add("AWS::SecretsManager::Secret", x.LogicalID, x.ARN)
	}
	for _, k := range s.template.Keys {
		all[k.LogicalID] = control.Resource{
			Type: "AWS::KMS::Key", Physical: func(ctx context.Context) (string, error) { return s.keyID(ctx, k) },
		}
	}
	return control.Stack{
		Name: stackName, ID: "arn:aws:cloudformation:" + region + ":" + account + ":stack/" + stackName + "/local",
		Created: time.Now(), Outputs: s.template.Outputs, Resources: all,
	}
}

// keyID returns the ID of a key, which its alias refers to.
func (s *stack) keyID(ctx context.Context, k template.Key) (string, error) {
	client := kms.NewFromConfig(s.cloud.Config(operatorCaller))
	found, err := client.DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: &k.Alias})
	if err != nil {
		return "", fmt.Errorf("key %s: %w", k.LogicalID, err)
	}
	return aws.ToString(found.KeyMetadata.KeyId), nil
}
