package e2e_test

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	awssqs "recordbridge/infra/local/aws/sqs"
	"recordbridge/infra/local/template"
	"recordbridge/infra/testkit/expect"
)

// pump delivers queued messages to the workers, as Lambda's event source mappings do, until all queues are empty. If
// there are several pollers, invocations overlap.
func (s queues) pump() {
	s.t.Helper()
	if s.pollers > 1 {
		pumpAtOnce(s.stack)
		return
	}
	for delivered := true; delivered; {
		delivered = false
		for _, f := range s.template.Functions {
			for _, trigger := range f.QueueTriggers {
				delivered = s.queues.deliver(f, trigger) || delivered
			}
		}
	}
}

func pumpAtOnce(s *stack) {
	s.t.Helper()
	for again := true; again; {
		var delivered atomic.Bool
		var pollers sync.WaitGroup
		for _, f := range s.template.Functions {
			for _, trigger := range f.QueueTriggers {
				for range s.pollers {
					pollers.Go(func() {
						for s.queues.deliver(f, trigger) {
							delivered.Store(true)
						}
					})
				}
			}
		}
		pollers.Wait()
		again = delivered.Load()
	}
}

// poller returns the SQS client that Lambda uses for a function's queue. The client has the function's permissions and
// is not affected by a plan's faults.
func poller(s *stack, f template.Function) *sqs.Client {
	if s.plan != nil {
		return sqs.NewFromConfig(s.cloud.Config("events"))
	}
	return sqs.NewFromConfig(s.cloud.Config(f.LogicalID))
}

// attach makes the calls that Lambda makes when queues are attached to functions.
func (s queues) attach() {
	s.t.Helper()
	for _, f := range s.template.Functions {
		if len(f.QueueTriggers) == 0 {
			continue
		}
		queue := poller(s.stack, f)
		s.functions[f.LogicalID].queue = queue
		for _, trigger := range f.QueueTriggers {
			_, err := queue.GetQueueAttributes(s.t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &trigger.QueueURL})
			expect.NoError(s.t, err)
		}
	}
}

// isEmpty reports whether a queue need not be polled because it has no visible messages. Under a fault plan, isEmpty
// returns false, because messages then become visible irregularly.
func isEmpty(s *stack, trigger template.QueueTrigger) bool {
	if s.plan != nil {
		return false
	}
	return !slices.ContainsFunc(s.cloud.SQS().Snapshot(), func(q awssqs.QueueState) bool {
		return q.Visible > 0 && q.Name == path.Base(trigger.QueueURL)
	})
}

func (s queues) deliver(f template.Function, trigger template.QueueTrigger) bool {
	s.t.Helper()
	if isEmpty(s.stack, trigger) {
		return false
	}
	queue := s.functions[f.LogicalID].queue
	received, err := queue.ReceiveMessage(s.t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl: &trigger.QueueURL, MaxNumberOfMessages: int32(min(trigger.BatchSize, 10)),
		MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{sqstypes.MessageSystemAttributeNameAll},
	})
	expect.NoError(s.t, err)
	if len(received.Messages) == 0 {
		return false
	}
	var batch events.SQSEvent
	for _, m := range received.Messages {
		batch.Records = append(batch.Records, events.SQSMessage{
			MessageId: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Attributes: m.Attributes,
			EventSource: "aws:sqs", EventSourceARN: trigger.QueueARN,
		})
	}
	payload, err := json.Marshal(batch)
	expect.NoError(s.t, err)
	out, err := s.Invoke(s.t.Context(), f.LogicalID, payload)
	if err != nil {
		return true // messages of a failed batch reappear after the visibility timeout
	}
	var answer events.SQSEventResponse
	expect.NoError(s.t, json.Unmarshal(out, &answer))
	failed := map[string]bool{}
	for _, item := range answer.BatchItemFailures {
		failed[item.ItemIdentifier] = true
	}
	for _, m := range batch.Records {
		if failed[m.MessageId] {
			continue
		}
		_, err := queue.DeleteMessage(s.t.Context(),
			&sqs.DeleteMessageInput{QueueUrl: &trigger.QueueURL, ReceiptHandle: &m.ReceiptHandle})
		expect.NoError(s.t, err)
	}
	return true
}

// loseMessages empties every queue, as if the messages had never been sent.
func (s queues) loseMessages() {
	s.t.Helper()
	queue := sqs.NewFromConfig(s.cloud.Config("test"))
	for _, f := range s.template.Functions {
		for _, trigger := range f.QueueTriggers {
			_, err := queue.PurgeQueue(s.t.Context(), &sqs.PurgeQueueInput{QueueUrl: &trigger.QueueURL})
			expect.NoError(s.t, err)
		}
	}
}

// advance waits for the given number of minutes, running the sweeper and the workers every minute.
func (s clock) advance(minutes int) {
	s.t.Helper()
	s.queues.pump()
	for range minutes {
		s.clock.pass(time.Minute)
	}
}

// finish waits until no work is pending, for at most the given number of minutes. After six minutes, when only
// visibility timeouts are pending, finish runs the schedules less often.
func (s clock) finish(most int) {
	s.t.Helper()
	s.queues.pump()
	for minutes := 0; minutes < most && len(s.clock.pending()) > 0; {
		step := 1
		if minutes >= 6 {
			step = 15
		}
		minutes += step
		s.clock.pass(time.Duration(step) * time.Minute)
	}
}

// pass waits in virtual time and then runs the sweeper. With several pollers, the schedule fires twice while the
// workers run, as EventBridge permits.
func (s clock) pass(wait time.Duration) {
	s.t.Helper()
	<-time.After(wait) // virtual time, because the test runs in a synctest bubble
	var sweeps sync.WaitGroup
	if s.pollers > 1 {
		sweeps.Go(s.clock.sweep)
		sweeps.Go(s.clock.sweep)
		s.queues.pump()
	} else {
		s.clock.sweep()
	}
	sweeps.Wait()
	s.queues.pump()
}

// pending lists the queues that have messages or, if all queues are empty, the rows with pending work. The scheduled
// expiry of a finished task's file does not count as pending work.
func (s clock) pending() []string {
	s.t.Helper()
	var left []string
	for _, queue := range s.cloud.SQS().Snapshot() {
		if !queue.DeadLetter && queue.Visible+queue.Delayed+queue.InFlight != 0 {
			left = append(left, queue.Name)
		}
	}
	if len(left) > 0 {
		return left
	}
	letIndexesCatchUp(s.stack)
	return s.clock.due("test-WorkTable", time.Now().Add(24*time.Hour))
}

// letIndexesCatchUp waits until every index reflects all earlier writes.
func letIndexesCatchUp(s *stack) {
	if s.plan != nil {
		<-time.After(longestLag) // virtual time, because the test runs in a synctest bubble
	}
}

type row map[string]types.AttributeValue

func (r row) text(name string) string {
	if value, ok := r[name].(*types.AttributeValueMemberS); ok {
		return value.Value
	}
	return ""
}

func (r row) number(name string) int {
	value, ok := r[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(value.Value)
	if err != nil {
		return 0
	}
	return n
}

// list returns the IDs of a tenant's rows of one kind, using that kind's index.
func (s state) list(table, list string) []string {
	s.t.Helper()
	letIndexesCatchUp(s.stack)
	out, err := s.rows.Query(s.t.Context(), &dynamodb.QueryInput{
		TableName: &table, IndexName: awssdk.String("byOrg"), KeyConditionExpression: awssdk.String("org_list = :list"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":list": &types.AttributeValueMemberS{Value: list}},
	})
	expect.NoError(s.t, err)
	keys := make([]string, 0, len(out.Items))
	for _, item := range out.Items {
		keys = append(keys, row(item).text("pk"))
	}
	return keys
}

// tenant returns the key prefix for the first organisation's test-mode tenant.
func (s *stack) tenant() string { return s.owner().Key() }

// objects lists the objects in the exports bucket.
func (s state) objects() []string {
	s.t.Helper()
	out, err := s3.NewFromConfig(s.cloud.Config("test")).ListObjectsV2(s.t.Context(), &s3.ListObjectsV2Input{
		Bucket: &s.template.Buckets[0].Name,
	})
	expect.NoError(s.t, err)
	keys := make([]string, 0, len(out.Contents))
	for _, object := range out.Contents {
		keys = append(keys, *object.Key)
	}
	return keys
}

// get returns a row, or nil if the row does not exist.
func (s state) get(table, pk, sk string) row {
	s.t.Helper()
	out, err := s.rows.GetItem(s.t.Context(), &dynamodb.GetItemInput{
		TableName: &table, ConsistentRead: awssdk.Bool(true),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk},
		},
	})
	expect.NoError(s.t, err)
	if len(out.Item) == 0 {
		return nil
	}
	return out.Item
}
