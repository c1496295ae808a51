package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// queue reads an AWS::SQS::Queue.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html
func (b *builder) queue(id string, o *object) Queue {
	// Encryption with an AWS-owned key is ignored, because it has no effect that callers can observe.
	o.ignore("SqsManagedSseEnabled")
	visibility := o.number("VisibilityTimeout", 0, 43200, 30)
	q := Queue{
		LogicalID: id, Name: b.values.name(id), URL: b.ref(kindQueue, id), ARN: b.arn(kindQueue, id),
		VisibilityTimeout: time.Duration(visibility) * time.Second,
		Attributes: map[string]string{
			"VisibilityTimeout":      strconv.Itoa(visibility),
			"MessageRetentionPeriod": strconv.Itoa(o.number("MessageRetentionPeriod", 60, 1209600, 345600)),
		},
	}
	if allow := o.object("RedriveAllowPolicy"); allow.node != nil {
		allow.oneOf("redrivePermission", "denyAll")
		allow.finish()
		b.closed = append(b.closed, q.ARN)
	}
	redrive := o.object("RedrivePolicy")
	if redrive.node == nil {
		return q
	}
	q.DeadLetterARN = redrive.required("deadLetterTargetArn")
	policy := struct {
		Target string `json:"deadLetterTargetArn"`
		Count  int    `json:"maxReceiveCount"`
	}{q.DeadLetterARN, redrive.number("maxReceiveCount", 1, 1000, 10)}
	redrive.finish()
	text, err := json.Marshal(policy)
	if err != nil {
		o.failf(redrive.line(), "RedrivePolicy: %v", err)
	}
	q.Attributes["RedrivePolicy"] = string(text)
	return q
}

// orderQueues places every dead-letter queue before the queues that refer to it. closed lists the ARNs of queues that
// can't be dead-letter queues.
func orderQueues(queues []Queue, closed []string) ([]Queue, error) {
	for _, q := range queues {
		if slices.Contains(closed, q.DeadLetterARN) {
			return nil, fmt.Errorf("%s: its dead letter queue refuses to be one (RedriveAllowPolicy)", q.LogicalID)
		}
	}
	ordered, created := []Queue{}, map[string]bool{"": true}
	for len(ordered) < len(queues) {
		next := slices.IndexFunc(queues, func(q Queue) bool { return !created[q.ARN] && created[q.DeadLetterARN] })
		if next < 0 {
			break
		}
		ordered, created[queues[next].ARN] = append(ordered, queues[next]), true
	}
	for _, q := range queues {
		if !created[q.ARN] {
			return nil, fmt.Errorf("%s: its dead letter queue is not in the template, or leads back to it", q.LogicalID)
		}
	}
	return ordered, nil
}
