package queue

import (
	"context"
	"fmt"
	"path"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// Receiver is the part of the SQS client that a Backlog uses.
type Receiver interface {
	ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput,
		o ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(ctx context.Context, in *sqs.DeleteMessageInput,
		o ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
}

const (
	mostReceived = 10 // SQS's maximum per ReceiveMessage request
	// pollSeconds is the wait time of a poll. The wait is short because polls are not cancelled: a Lambda invocation
	// may continue for up to pollSeconds after its work is done.
	pollSeconds = 1
	// hiddenSeconds is the visibility timeout of a received message. The timeout exceeds the time needed to handle a
	// message.
	hiddenSeconds = 120
)

// Backlog receives a worker's messages directly from the worker's queue (lambdarun.Backlog).
type Backlog struct {
	client Receiver
	url    string
}

// NewBacklog returns a Backlog that receives from the queue at url.
func NewBacklog(client Receiver, url string) Backlog { return Backlog{client, url} }

// URL returns the queue's URL.
func (b Backlog) URL() string { return b.url }

// Receive implements lambdarun.Backlog. Each message's EventSourceARN contains the queue's name instead of its ARN.
func (b Backlog) Receive(ctx context.Context) ([]events.SQSMessage, error) {
	out, err := b.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &b.url, MaxNumberOfMessages: mostReceived, WaitTimeSeconds: pollSeconds, VisibilityTimeout: hiddenSeconds,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{
			types.MessageSystemAttributeNameApproximateReceiveCount, types.MessageSystemAttributeNameAWSTraceHeader,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("receive messages: %w", err)
	}
	records := make([]events.SQSMessage, 0, len(out.Messages))
	for _, m := range out.Messages {
		records = append(records, events.SQSMessage{
			MessageId: aws.ToString(m.MessageId), ReceiptHandle: aws.ToString(m.ReceiptHandle), Body: aws.ToString(m.Body),
			Attributes: m.Attributes, EventSourceARN: path.Base(b.url),
		})
	}
	return records, nil
}

// Delete implements lambdarun.Backlog.
func (b Backlog) Delete(ctx context.Context, message events.SQSMessage) error {
	_, err := b.client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &b.url, ReceiptHandle: &message.ReceiptHandle})
	if err != nil {
		return fmt.Errorf("delete message: %w", err)
	}
	return nil
}
