package iam_test

import (
	"context"
	"fmt"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"recordbridge/infra/local/template"
)

func onQueues[In, Out any](call func(*sqs.Client, context.Context, *In, ...func(*sqs.Options)) (*Out, error),
	in In,
) step {
	return func(ctx context.Context, cfg awssdk.Config) error {
		_, err := call(sqs.NewFromConfig(cfg), ctx, new(in))
		return err
	}
}

// withReceipt returns two steps: one that sends and receives a message, and one that passes the message's receipt
// handle to use.
func withReceipt(use func(client *sqs.Client, ctx context.Context, receipt *string) error) (prepare, do step) {
	var receipt *string
	prepare = func(ctx context.Context, cfg awssdk.Config) error {
		client := sqs.NewFromConfig(cfg)
		if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl:    new(jobsURL),
			MessageBody: new("x"),
		}); err != nil {
			return err
		}
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: new(jobsURL)})
		if err != nil {
			return err
		}
		if len(out.Messages) != 1 {
			return fmt.Errorf("received %d messages", len(out.Messages))
		}
		receipt = out.Messages[0].ReceiptHandle
		return nil
	}
	do = func(ctx context.Context, cfg awssdk.Config) error { return use(sqs.NewFromConfig(cfg), ctx, receipt) }
	return prepare, do
}

func queueOperations() map[string]operation {
	operations := map[string]operation{
		"SendMessage": {needs: one("sqs:SendMessage", jobsARN), do: onQueues((*sqs.Client).SendMessage, sqs.SendMessageInput{
			QueueUrl: new(jobsURL), MessageBody: new("x"),
		})},
		"ReceiveMessage": {
			needs: one("sqs:ReceiveMessage", jobsARN),
			do:    onQueues((*sqs.Client).ReceiveMessage, sqs.ReceiveMessageInput{QueueUrl: new(jobsURL)}),
		},
		"GetQueueAttributes": {
			needs: one("sqs:GetQueueAttributes", jobsARN),
			do:    onQueues((*sqs.Client).GetQueueAttributes, sqs.GetQueueAttributesInput{QueueUrl: new(jobsURL)}),
		},
		"GetQueueUrl": {
			needs: one("sqs:GetQueueUrl", jobsARN),
			do:    onQueues((*sqs.Client).GetQueueUrl, sqs.GetQueueUrlInput{QueueName: new("jobs")}),
		},
		"StartMessageMoveTask": {
			needs: []template.Statement{
				allow("sqs:StartMessageMoveTask", deadARN), allow("sqs:ReceiveMessage", deadARN),
				allow("sqs:DeleteMessage", deadARN),
				allow("sqs:GetQueueAttributes", deadARN),
			},
			do: onQueues((*sqs.Client).StartMessageMoveTask, sqs.StartMessageMoveTaskInput{SourceArn: new(deadARN)}),
		},
	}
	uses := map[string]func(client *sqs.Client, ctx context.Context, receipt *string) error{
		"DeleteMessage": func(client *sqs.Client, ctx context.Context, receipt *string) error {
			_, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: new(jobsURL), ReceiptHandle: receipt})
			return err
		},
		"DeleteMessageBatch": func(client *sqs.Client, ctx context.Context, receipt *string) error {
			_, err := client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{
				QueueUrl: new(jobsURL), Entries: []types.DeleteMessageBatchRequestEntry{{Id: new("1"), ReceiptHandle: receipt}},
			})
			return err
		},
	}
	for name, use := range uses {
		prepare, do := withReceipt(use)
		operations[name] = operation{needs: one("sqs:DeleteMessage", jobsARN), prepare: prepare, do: do}
	}
	return operations
}
