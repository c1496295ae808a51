package template

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var rateExpression = regexp.MustCompile(`^rate\(([1-9][0-9]*) (minute|hour|day)(s?)\)$`)

func (b *builder) queueTrigger(f *Function, o *object) QueueTrigger {
	t := QueueTrigger{QueueARN: o.required("Queue"), BatchSize: o.number("BatchSize", 1, 10, 10)}
	for _, kind := range o.texts("FunctionResponseTypes") {
		if kind != "ReportBatchItemFailures" {
			o.failf(o.line(), "%sFunctionResponseTypes: %q is not understood", o.where, kind)
		}
		t.PartialFailures = true
	}
	scaling := o.object("ScalingConfig")
	if scaling.node != nil {
		t.MaxConcurrency = scaling.number("MaximumConcurrency", 2, 1000, 0)
		scaling.finish()
	}
	for _, q := range b.template.Queues {
		if q.ARN != t.QueueARN {
			continue
		}
		t.QueueURL = q.URL
		if q.VisibilityTimeout < f.Timeout {
			// Lambda rejects a queue whose visibility timeout is shorter than the function's timeout, because a message
			// would become visible again while the function is still processing it.
			o.failf(o.line(), "the VisibilityTimeout of %s (%v) is shorter than the function's Timeout (%v)",
				q.LogicalID, q.VisibilityTimeout, f.Timeout)
		}
	}
	if t.QueueURL == "" {
		o.failf(o.line(), "%sQueue %q is not the ARN of a queue of the template", o.where, t.QueueARN)
	}
	return t
}

// rate parses the Schedule property, such as "rate(5 minutes)".
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
func rate(o *object) time.Duration {
	expression := o.required("Schedule")
	if strings.HasPrefix(expression, "cron(") {
		o.failf(o.line(), "%sSchedule: cron expressions are not understood, only rate(...)", o.where)
		return 0
	}
	m := rateExpression.FindStringSubmatch(expression)
	if m == nil {
		o.failf(o.line(), "%sSchedule %q is not a rate(...)", o.where, expression)
		return 0
	}
	count, err := strconv.Atoi(m[1])
	if err != nil || count > 1000 || (count == 1) != (m[3] == "") {
		o.failf(o.line(), "%sSchedule %q is not a rate(...): one minute, but more minutes", o.where, expression)
		return 0
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[m[2]]
	return time.Duration(count) * unit
}
