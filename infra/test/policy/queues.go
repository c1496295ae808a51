package policy

import (
	"slices"
	"strconv"
)

// visibilityFactor is the minimum ratio of a queue's visibility timeout to its consumer's timeout, as recommended in
// the Lambda guide. https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
const visibilityFactor = 6

// Queues reports queues whose visibility timeout is too short for their consumer, and consumers of queues outside the
// template. cfn-guard checks all other queue rules (.ci/template/rules/queues.guard).
func Queues(s *Stack) []Finding {
	var found findings
	queues := s.of(kindQueue)
	for _, f := range s.of(kindFunction) {
		for _, e := range events(f, "SQS") {
			source := references(at(e, "Queue"))
			i := slices.IndexFunc(queues, func(q Resource) bool { return slices.Contains(source, q.ID) })
			if i < 0 {
				found.addf(f.ID, "takes messages of a queue that is not in the template")
				continue
			}
			visibility(queues[i], f, seconds(at(e, "MaximumBatchingWindowInSeconds"), 0), &found)
		}
	}
	return found.sorted()
}

// deadLetterQueues returns the logical IDs of queues that serve as dead-letter queues for other queues.
func (s *Stack) deadLetterQueues() []string {
	queues := s.of(kindQueue)
	ids := make([]string, 0, len(queues))
	for _, q := range queues {
		ids = append(ids, references(at(q.Properties, "RedrivePolicy", "deadLetterTargetArn"))...)
	}
	return ids
}

// visibility reports a queue whose visibility timeout is too short for its consumer. Lambda may collect a batch for up
// to window seconds before an invocation.
func visibility(queue, consumer Resource, window int, found *findings) {
	timeout := seconds(consumer.Properties["Timeout"], 3)
	least := visibilityFactor*timeout + window
	if got := seconds(queue.Properties["VisibilityTimeout"], 30); got < least {
		found.addf(queue.ID, "hides messages for %d s, less than %d times the timeout of %s (%d s)",
			got, visibilityFactor, consumer.ID, least)
	}
}

// events returns the properties of a function's events of the given type.
func events(f Resource, kind string) []any {
	var all []any
	for _, e := range fields(f.Properties["Events"]) {
		if scalar(at(e, "Type")) == kind {
			all = append(all, at(e, "Properties"))
		}
	}
	return all
}

// seconds returns v as a number. unset is the AWS default, returned if v is missing.
func seconds(v any, unset int) int {
	n, err := strconv.Atoi(scalar(v))
	if err != nil {
		return unset
	}
	return n
}
