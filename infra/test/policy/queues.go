package policy

import "slices"

const (
	// visibilityFactor is what Lambda's guide asks for between a queue's visibility and its consumer's timeout.
	// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
	visibilityFactor = 6
	// sqsRetention is how many seconds a queue keeps its messages when the template does not say.
	sqsRetention = 345600
)

// Queues finds queues without a dead letter queue in the template (unless they are one) or without encryption, dead
// letter queues that forget sooner than the queue before them, queues that are open to plain HTTP or to dead letters of others, those whose messages come back before their consumer
// can have ended, and consumers that fail a batch as a whole.
func Queues(s *Stack) []Finding {
	var found findings
	queues := s.of(kindQueue)
	dead := s.deadLetterQueues()
	for _, q := range queues {
		target := references(at(q.Properties, "RedrivePolicy", "deadLetterTargetArn"))
		i := slices.IndexFunc(queues, func(d Resource) bool { return slices.Contains(target, d.ID) })
		switch {
		case i >= 0:
			retention(q, queues[i], &found)
		case !slices.Contains(dead, q.ID):
			found.addf(q.ID, "has no dead letter queue")
		}
		if !slices.ContainsFunc(s.of(kindQueuePolicy), func(p Resource) bool { return closesPlain(p, q) }) {
			found.addf(q.ID, "has no policy that denies plain HTTP")
		}
		if i >= 0 && scalar(at(q.Properties, "RedriveAllowPolicy", "redrivePermission")) != "denyAll" {
			found.addf(q.ID, "may be made the dead letter queue of another (RedriveAllowPolicy)")
		}
		if scalar(q.Properties["SqsManagedSseEnabled"]) != "true" && q.Properties["KmsMasterKeyId"] == nil {
			found.addf(q.ID, "is not encrypted")
		}
	}
	for _, f := range s.of(kindFunction) {
		for _, e := range events(f, "SQS") {
			if !slices.Contains(shorts(at(e, "FunctionResponseTypes")), "ReportBatchItemFailures") {
				found.addf(f.ID, "does not report which messages of a batch failed (ReportBatchItemFailures)")
			}
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

// closesPlain tells whether a policy is also one queue's and denies plain HTTP.
func closesPlain(p, queue Resource) bool {
	return slices.Contains(shorts(p.Properties["Queues"]), "${"+queue.ID+"}") && deniesPlain(p.Properties["PolicyDocument"], "sqs:*", "*")
}

// deadLetterQueues lists the logical ids of the queues that others name as theirs.
func (s *Stack) deadLetterQueues() []string {
	queues := s.of(kindQueue)
	ids := make([]string, 0, len(queues))
	for _, q := range queues {
		ids = append(ids, references(at(q.Properties, "RedrivePolicy", "deadLetterTargetArn"))...)
	}
	return ids
}

// retention finds a dead letter queue that may drop a message as soon as it comes: the time since it was first sent
// counts on.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
func retention(queue, dead Resource, found *findings) {
	kept := seconds(queue.Properties["MessageRetentionPeriod"], sqsRetention)
	if got := seconds(dead.Properties["MessageRetentionPeriod"], sqsRetention); got <= kept {
		found.addf(dead.ID, "keeps messages for %d s, not longer than %s (%d s)", got, queue.ID, kept)
	}
}

// visibility finds a queue that shows its messages again too soon for its consumer, which may collect a batch for a
// window of seconds first.
func visibility(queue, consumer Resource, window int, found *findings) {
	timeout := seconds(consumer.Properties["Timeout"], 3)
	least := visibilityFactor*timeout + window
	if got := seconds(queue.Properties["VisibilityTimeout"], 30); got < least {
		found.addf(queue.ID, "hides messages for %d s, less than %d times the timeout of %s (%d s)",
			got, visibilityFactor, consumer.ID, least)
	}
}
