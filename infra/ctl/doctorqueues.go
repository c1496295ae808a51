package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// checkQueues counts the messages in queues and dead-letter queues.
func checkQueues(ctx context.Context, s session) []finding {
	client := sqs.NewFromConfig(s.stack.Config)
	var found []finding
	for name, word := range map[string]string{
		"Export": "exports", "Delivery": "deliveries", "Refresh": "refreshes", "Tefca": "tefca",
	} {
		for _, suffix := range []string{"QueueUrl", "DeadLetterQueueUrl"} {
			n, err := messages(ctx, client, s.stack.Outputs[name+suffix])
			switch {
			case err != nil:
				found = append(found, notInspected("Allow sqs:GetQueueAttributes on the queue.",
					"The queue %s%s can't be read: %v.", name, suffix, err))
			case suffix == "DeadLetterQueueUrl" && n > 0:
				found = append(found, amiss("See docs/operate/runbooks/dead-letters.md, then run ctl redrive -queue "+word+".",
					"The dead-letter queue for %s has %d messages.", word, n))
			default:
				found = append(found, fine("%s%s: %d messages.", name, strings.TrimSuffix(suffix, "Url"), n))
			}
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.What, b.What) })
	return found
}

// messages returns the approximate number of messages that wait in the queue at url.
func messages(ctx context.Context, client *sqs.Client, url string) (int, error) {
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages},
	})
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)])
}
