package sqs

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"time"

	"recordbridge/infra/local/aws/wire"
)

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

type createQueueInput struct {
	QueueName  string
	Attributes map[string]string
}

type queueURLOutput struct {
	QueueURL string `json:"QueueUrl"`
}

type queueOperations struct {
	*ledger

	baseURL string
}

func (o *queueOperations) createQueue(_ context.Context, in *createQueueInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if in.QueueName == "" {
		return nil, missing("QueueName")
	}
	if !queueName.MatchString(in.QueueName) {
		return nil, wire.Fail("InvalidParameterValue",
			"Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	if err := o.checkAttributes(in.QueueName, in.Attributes); err != nil {
		return nil, err
	}
	if q, ok := o.queues[in.QueueName]; ok {
		if name := q.differs(in.Attributes); name != "" {
			return nil, wire.Fail("QueueNameExists",
				"A queue already exists with the same name and a different value for attribute %s", name)
		}
		return queueURLOutput{QueueURL: o.urlOf(in.QueueName)}, nil
	}
	err := o.commit(record{Kind: kindCreate, Queue: in.QueueName, Attributes: in.Attributes, At: time.Now()})
	return queueURLOutput{QueueURL: o.urlOf(in.QueueName)}, err
}

// checkAttributes returns an error for attributes that parseSettings rejects, and for a dead-letter queue that does not
// exist or is the queue itself.
func (o *queueOperations) checkAttributes(name string, attributes map[string]string) error {
	parsed, err := parseSettings(attributes)
	if err != nil || parsed.deadLetterARN == "" {
		return err
	}
	switch target := o.findARN(parsed.deadLetterARN); {
	case target == nil:
		return badRedrive(attributes["RedrivePolicy"], "Dead letter target does not exist.")
	case target.name == name:
		return badRedrive(attributes["RedrivePolicy"], "A queue cannot be its own dead letter target.")
	default:
		return nil
	}
}

// differs returns the name of an attribute whose value differs from the queue's value, or "" if all values are equal.
func (q *queue) differs(attributes map[string]string) string {
	own := q.describe(time.Now())
	for name, value := range attributes {
		if name == "RedrivePolicy" {
			arn, count, err := parseRedrive(value)
			if err == nil && arn == q.settings.deadLetterARN && count == q.settings.maxReceives {
				continue
			}
		}
		if own[name] != value {
			return name
		}
	}
	return ""
}

type getQueueURLInput struct {
	QueueName string
}

func (o *queueOperations) getQueueURL(_ context.Context, in *getQueueURLInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if in.QueueName == "" {
		return nil, missing("QueueName")
	}
	q, err := o.named(in.QueueName)
	if err != nil {
		return nil, err
	}
	return queueURLOutput{QueueURL: o.urlOf(q.name)}, nil
}

type getQueueAttributesInput struct {
	QueueURL       string `json:"QueueUrl"`
	AttributeNames []string
}

type getQueueAttributesOutput struct {
	Attributes map[string]string `json:"Attributes,omitempty"`
}

func (o *queueOperations) getQueueAttributes(_ context.Context, in *getQueueAttributesInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q, err := o.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	all := q.describe(time.Now())
	for _, name := range in.AttributeNames {
		if _, ok := all[name]; !ok && name != "All" && !isUnset(name) {
			return nil, unknownAttribute(name)
		}
	}
	return getQueueAttributesOutput{Attributes: selected(all, in.AttributeNames)}, nil
}

// selected returns the entries with the given names. The name "All" selects every entry.
func selected(all map[string]string, names []string) map[string]string {
	if slices.Contains(names, "All") {
		return all
	}
	out := map[string]string{}
	for _, name := range names {
		if value, ok := all[name]; ok {
			out[name] = value
		}
	}
	return out
}

// describe returns all of the queue's attributes: defaults, explicitly set values and counts.
func (q *queue) describe(now time.Time) map[string]string {
	all := defaults()
	for name, value := range q.attributes {
		if value != "" {
			all[name] = value
		}
	}
	visible, inFlight, delayed := q.counts(now)
	all["QueueArn"] = q.arn()
	all["CreatedTimestamp"] = strconv.FormatInt(q.created.Unix(), 10)
	all["LastModifiedTimestamp"] = strconv.FormatInt(q.modified.Unix(), 10)
	all["ApproximateNumberOfMessages"] = strconv.Itoa(visible)
	all["ApproximateNumberOfMessagesNotVisible"] = strconv.Itoa(inFlight)
	all["ApproximateNumberOfMessagesDelayed"] = strconv.Itoa(delayed)
	return all
}

type setQueueAttributesInput struct {
	QueueURL   string `json:"QueueUrl"`
	Attributes map[string]string
}

func (o *queueOperations) setQueueAttributes(_ context.Context, in *setQueueAttributesInput) (any, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q, err := o.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	if len(in.Attributes) == 0 {
		return nil, missing("Attributes")
	}
	if err := o.checkAttributes(q.name, in.Attributes); err != nil {
		return nil, err
	}
	if _, err := parseSettings(q.with(in.Attributes)); err != nil {
		return nil, err
	}
	return nil, o.commit(record{Kind: kindAttributes, Queue: q.name, Attributes: in.Attributes, At: time.Now()})
}
