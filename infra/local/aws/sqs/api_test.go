package sqs_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
)

func TestAMessageComesWithItsAttributes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.queue("jobs", nil)
	out, err := b.SendMessage(t.Context(), &sdk.SendMessageInput{
		QueueUrl: url, MessageBody: awssdk.String("hello"), MessageGroupId: awssdk.String("organisation-1"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"timestamp": {DataType: awssdk.String("Number"), StringValue: awssdk.String("1493147359900")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// A digest that circulates in the tests of other emulators: not computed with our own code.
	if got, want := *out.MD5OfMessageAttributes, "235c5c510d26fb653d073faed50ae77c"; got != want {
		t.Errorf("MD5OfMessageAttributes is %q, want %q", got, want)
	}
	got := b.one(url)
	if *got.Body != "hello" || *got.MessageAttributes["timestamp"].StringValue != "1493147359900" {
		t.Errorf("got body %q and attributes %v", *got.Body, got.MessageAttributes)
	}
	if got.Attributes["MessageGroupId"] != "organisation-1" || got.Attributes["ApproximateReceiveCount"] != "1" {
		t.Errorf("got system attributes %v", got.Attributes)
	}
}

func TestQueuesAnswerWithTheirAttributes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.queue("jobs", map[string]string{"VisibilityTimeout": "5400"})
	if want := "http://127.0.0.1:4566/000000000000/jobs"; *url != want {
		t.Errorf("the queue URL is %q, want %q", *url, want)
	}
	again := b.queue("jobs", map[string]string{"VisibilityTimeout": "5400", "DelaySeconds": "0"})
	found, err := b.GetQueueUrl(t.Context(), &sdk.GetQueueUrlInput{QueueName: awssdk.String("jobs")})
	if err != nil || *found.QueueUrl != *url || *again != *url {
		t.Errorf("GetQueueUrl gave %v, %v; a second CreateQueue %q", found, err, *again)
	}
	_, err = b.SetQueueAttributes(t.Context(), &sdk.SetQueueAttributesInput{QueueUrl: url, Attributes: map[string]string{"DelaySeconds": "3"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.GetQueueAttributes(t.Context(), &sdk.GetQueueAttributesInput{
		QueueUrl: url, AttributeNames: []types.QueueAttributeName{"QueueArn", "VisibilityTimeout", "DelaySeconds", "ApproximateNumberOfMessages"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"QueueArn": arn("jobs"), "VisibilityTimeout": "5400", "DelaySeconds": "3", "ApproximateNumberOfMessages": "0",
	}
	if diff := cmp.Diff(want, out.Attributes); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
}

func TestBatchesFailEntryByEntry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.queue("jobs", nil)
	batch := entries(10)
	batch[3].DelaySeconds = 901
	out, err := b.SendMessageBatch(t.Context(), &sdk.SendMessageBatchInput{QueueUrl: url, Entries: batch})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Successful) != 9 || len(out.Failed) != 1 || *out.Failed[0].Id != "d" || !out.Failed[0].SenderFault {
		t.Errorf("sent %d, failed %v", len(out.Successful), out.Failed)
	}
	messages := b.receive(url, 0)
	handles := make([]types.DeleteMessageBatchRequestEntry, 0, len(messages))
	for _, m := range messages {
		handles = append(handles, types.DeleteMessageBatchRequestEntry{Id: m.MessageId, ReceiptHandle: m.ReceiptHandle})
	}
	handles[0].ReceiptHandle = awssdk.String("garbage")
	deleted, err := b.DeleteMessageBatch(t.Context(), &sdk.DeleteMessageBatchInput{QueueUrl: url, Entries: handles})
	if err != nil {
		t.Fatal(err)
	}
	if len(deleted.Successful) != 8 || len(deleted.Failed) != 1 || *deleted.Failed[0].Code != "ReceiptHandleIsInvalid" {
		t.Errorf("deleted %d, failed %v", len(deleted.Successful), deleted.Failed)
	}
	if got := b.cloud.SQS().Snapshot()[0]; got.InFlight != 1 || got.Visible != 0 {
		t.Errorf("after the batch the queue is %+v, want the one that failed", got)
	}
}

func TestPurgeEmptiesAQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.queue("jobs", nil)
	b.send(url, "one", 0)
	b.send(url, "two", 60)
	if _, err := b.PurgeQueue(t.Context(), &sdk.PurgeQueueInput{QueueUrl: url}); err != nil {
		t.Fatal(err)
	}
	if got := b.cloud.SQS().Snapshot()[0]; got.Visible+got.Delayed != 0 {
		t.Errorf("after the purge the queue is %+v", got)
	}
}

func TestErrorsHaveTheTypesThatCodeLooksFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.GetQueueUrl(t.Context(), &sdk.GetQueueUrlInput{QueueName: awssdk.String("nowhere")})
	if _, ok := errors.AsType[*types.QueueDoesNotExist](err); !ok {
		t.Errorf("got %v, want *types.QueueDoesNotExist", err)
	}
	url := b.queue("jobs", nil)
	twice := append(entries(1), entries(1)...)
	_, err = b.SendMessageBatch(t.Context(), &sdk.SendMessageBatchInput{QueueUrl: url, Entries: twice})
	if _, ok := errors.AsType[*types.BatchEntryIdsNotDistinct](err); !ok {
		t.Errorf("got %v, want *types.BatchEntryIdsNotDistinct", err)
	}
	_, err = b.DeleteMessage(t.Context(), &sdk.DeleteMessageInput{QueueUrl: url, ReceiptHandle: awssdk.String("garbage")})
	if _, ok := errors.AsType[*types.ReceiptHandleIsInvalid](err); !ok {
		t.Errorf("got %v, want *types.ReceiptHandleIsInvalid", err)
	}
}

func TestSQSRefusesWhatAWSRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	create := func(name string, attributes map[string]string) func(bench, *string) error {
		return func(b bench, _ *string) error {
			_, err := b.CreateQueue(b.t.Context(), &sdk.CreateQueueInput{QueueName: &name, Attributes: attributes})
			return err
		}
	}
	send := func(body string, delay int32) func(bench, *string) error {
		return func(b bench, url *string) error {
			_, err := b.SendMessage(b.t.Context(), &sdk.SendMessageInput{QueueUrl: url, MessageBody: &body, DelaySeconds: delay})
			return err
		}
	}
	sendBatch := func(batch []types.SendMessageBatchRequestEntry) func(bench, *string) error {
		return func(b bench, url *string) error {
			_, err := b.SendMessageBatch(b.t.Context(), &sdk.SendMessageBatchInput{QueueUrl: url, Entries: batch})
			return err
		}
	}
	receive := func(most, wait, visibility int32) func(bench, *string) error {
		return func(b bench, url *string) error {
			_, err := b.ReceiveMessage(b.t.Context(), &sdk.ReceiveMessageInput{
				QueueUrl: url, MaxNumberOfMessages: most, WaitTimeSeconds: wait, VisibilityTimeout: visibility,
			})
			return err
		}
	}
	half := entries(2)
	half[0].MessageBody, half[1].MessageBody = awssdk.String(long[:600_000]), awssdk.String(long[:600_000])
	badID := entries(1)
	badID[0].Id = awssdk.String("not allowed")
	tests := map[string]struct {
		call func(bench, *string) error
		want string
	}{
		"a name with a dot":               {create("jobs.fifo", nil), "InvalidParameterValue"},
		"a FIFO queue":                    {create("fifo", map[string]string{"FifoQueue": "true"}), "AWS.SimpleQueueService.UnsupportedOperation"},
		"an unknown attribute":            {create("other", map[string]string{"Visibility": "3"}), "InvalidAttributeName"},
		"an attribute out of range":       {create("other", map[string]string{"DelaySeconds": "901"}), "InvalidAttributeValue"},
		"a name with other attributes":    {create("jobs", map[string]string{"DelaySeconds": "9"}), "QueueAlreadyExists"},
		"a redrive policy that is no map": {create("other", map[string]string{"RedrivePolicy": "5"}), "InvalidParameterValue"},
		"a missing dead-letter queue":     {create("other", redrive("nowhere", "3")), "InvalidParameterValue"},
		"a receive count of zero":         {create("other", redrive("jobs", "0")), "InvalidParameterValue"},
		"a delay above 15 minutes":        {send("x", 901), "InvalidParameterValue"},
		"a body above 1 MiB":              {send(long+"x", 0), "InvalidParameterValue"},
		"a body with a control character": {send("a\x00b", 0), "InvalidMessageContents"},
		"eleven entries":                  {sendBatch(entries(11)), "AWS.SimpleQueueService.TooManyEntriesInBatchRequest"},
		"no entries":                      {sendBatch([]types.SendMessageBatchRequestEntry{}), "AWS.SimpleQueueService.EmptyBatchRequest"},
		"a batch above 1 MiB":             {sendBatch(half), "AWS.SimpleQueueService.BatchRequestTooLong"},
		"an entry id with a space":        {sendBatch(badID), "AWS.SimpleQueueService.InvalidBatchEntryId"},
		"eleven messages at once":         {receive(11, 0, 0), "InvalidParameterValue"},
		"a poll of 21 seconds":            {receive(1, 21, 0), "InvalidParameterValue"},
		"a timeout above 12 hours":        {receive(1, 0, 43_201), "InvalidParameterValue"},
		"an operation left out": {func(b bench, url *string) error {
			_, err := b.DeleteQueue(b.t.Context(), &sdk.DeleteQueueInput{QueueUrl: url})
			return err
		}, "UnknownOperationException"},
		"itself as dead-letter queue": {func(b bench, url *string) error {
			_, err := b.SetQueueAttributes(b.t.Context(), &sdk.SetQueueAttributesInput{QueueUrl: url, Attributes: redrive("jobs", "3")})
			return err
		}, "InvalidParameterValue"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			wantCode(t, test.call(b, b.queue("jobs", nil)), test.want)
		})
	}
	t.Run("a body of exactly 1 MiB is fine", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		if err := send(long, 0)(b, b.queue("jobs", nil)); err != nil {
			t.Error(err)
		}
	})
}

func redrive(target, count string) map[string]string {
	return map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"` + arn(target) + `","maxReceiveCount":` + count + `}`}
}

func TestEveryMessageReachesExactlyOneOfManyConsumers(t *testing.T) {
	t.Parallel()
	const producers, perProducer, consumers = 6, 40, 4
	b := newBench(t)
	url := b.queue("jobs", nil)
	var mu sync.Mutex
	seen := map[string]int{}
	var all sync.WaitGroup
	for range producers {
		all.Go(func() {
			for range perProducer {
				b.send(url, "x", 0)
			}
		})
	}
	for range consumers {
		all.Go(func() {
			for range 2 * perProducer {
				for _, m := range b.receive(url, 0) {
					mu.Lock()
					seen[*m.MessageId]++
					mu.Unlock()
					b.deleteMessage(url, m.ReceiptHandle)
				}
			}
		})
	}
	all.Wait()
	for messages := b.receive(url, 0); len(messages) > 0; messages = b.receive(url, 0) {
		for _, m := range messages {
			seen[*m.MessageId]++
		}
	}
	if got, want := len(seen), producers*perProducer; got != want {
		t.Errorf("%d messages arrived, want %d", got, want)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("message %s arrived %d times", id, times)
		}
	}
}
