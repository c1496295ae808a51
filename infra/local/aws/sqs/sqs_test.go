package sqs_test

import (
	"errors"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"recordbridge/infra/local/aws"
)

// bench combines an embedded AWS with a real in-process SQS client.
type bench struct {
	*sdk.Client

	t     *testing.T
	cloud *aws.Cloud
}

func newBench(t *testing.T) bench {
	t.Helper()
	cloud, err := aws.New(aws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bench{Client: sdk.NewFromConfig(cloud.Config("worker")), t: t, cloud: cloud}
}

func (b bench) queue(name string, attributes map[string]string) *string {
	b.t.Helper()
	out, err := b.CreateQueue(b.t.Context(), &sdk.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.QueueUrl
}

// pair creates a queue and its dead-letter queue "dead".
func (b bench) pair(name, maxReceives string) (live, dead *string) {
	b.t.Helper()
	dead = b.queue("dead", nil)
	live = b.queue(name, map[string]string{
		"VisibilityTimeout": "360",
		"RedrivePolicy":     `{"deadLetterTargetArn":"` + arn("dead") + `","maxReceiveCount":` + maxReceives + `}`,
	})
	return live, dead
}

func arn(name string) string { return "arn:aws:sqs:us-east-1:000000000000:" + name }

func (b bench) send(url *string, body string, delay int32) {
	b.t.Helper()
	in := &sdk.SendMessageInput{QueueUrl: url, MessageBody: &body, DelaySeconds: delay}
	if _, err := b.SendMessage(b.t.Context(), in); err != nil {
		b.t.Fatal(err)
	}
}

func (b bench) receive(url *string, wait int32) []types.Message {
	b.t.Helper()
	out, err := b.ReceiveMessage(b.t.Context(), &sdk.ReceiveMessageInput{
		QueueUrl: url, WaitTimeSeconds: wait, MaxNumberOfMessages: 10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Messages
}

// one receives a message without waiting, and fails the test unless it receives exactly one.
func (b bench) one(url *string) types.Message {
	b.t.Helper()
	got := b.receive(url, 0)
	if len(got) != 1 {
		b.t.Fatalf("received %d messages, want 1", len(got))
	}
	return got[0]
}

func (b bench) deleteMessage(url, handle *string) {
	b.t.Helper()
	if _, err := b.DeleteMessage(b.t.Context(),
		&sdk.DeleteMessageInput{QueueUrl: url, ReceiptHandle: handle}); err != nil {
		b.t.Fatal(err)
	}
}

func bodies(messages []types.Message) []string {
	out := make([]string, 0, len(messages))
	for _, m := range messages {
		out = append(out, *m.Body)
	}
	return out
}

func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	failure, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		t.Fatalf("got %v, want an API error %s", err, want)
	}
	if got := failure.ErrorCode(); got != want {
		t.Errorf("error code is %q, want %q (%s)", got, want, failure.ErrorMessage())
	}
}
