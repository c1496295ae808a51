package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"recordbridge/shared/words/metric"
)

// nearTimeout is the lowest acceptable threshold for a duration alarm, as a fraction of the function's timeout.
const nearTimeout = 0.5

// Watched reports metrics that have no alarm. A function needs alarms for errors, throttles and duration. A scheduled
// function also needs an alarm for missed runs. A queue needs an alarm for message age, a dead-letter queue for
// arrivals, and the API for errors and latency. Each AWS service that a role may call needs alarms for throttled and
// failed calls. An alarm counts only if it is unconditional or has the resource's condition.
func Watched(s *Stack) []Finding {
	w := watch{stack: s}
	for _, f := range s.of(kindFunction) {
		for _, name := range []string{"Errors", "Throttles"} {
			w.want(f, "AWS/Lambda", name, "FunctionName", "${"+f.ID+"}", nil)
		}
		w.duration(f)
		if len(events(f, "Schedule")) > 0 {
			w.silence(f)
		}
	}
	dead := s.deadLetterQueues()
	for _, q := range s.of(kindQueue) {
		name := "ApproximateAgeOfOldestMessage"
		if slices.Contains(dead, q.ID) {
			name = "ApproximateNumberOfMessagesVisible"
		}
		w.want(q, "AWS/SQS", name, "QueueName", "${"+q.ID+".QueueName}", nil)
	}
	for _, a := range s.of(kindAPI) {
		// By default, SAM names an API after the stack.
		name := cmp.Or(short(a.Properties["Name"]), "${AWS::StackName}")
		stage := map[string]string{"Stage": short(a.Properties["StageName"])}
		for _, of := range []string{"5XXError", "Latency"} {
			w.want(a, "AWS/ApiGateway", of, "ApiName", name, stage)
		}
	}
	w.dependencies()
	return w.found.sorted()
}

// dependencies returns the AWS services that functions call, by the services' prefix in permissions. The values are the
// SDK's service IDs, which are the values of the metrics' dimension.
func dependencies() map[string]string {
	return map[string]string{
		"dynamodb": "DynamoDB", "kms": "KMS", "s3": "S3", "secretsmanager": "Secrets Manager", "ses": "SES", "sqs": "SQS",
		"ssm": "SSM",
	}
}

// dependencies reports AWS services whose throttled or failed calls no alarm watches. Every alarm about a service is
// about all functions, so the first role that may call the service represents the others.
func (w *watch) dependencies() {
	called := map[string]bool{}
	for _, r := range w.stack.of(kindRole) {
		for _, st := range w.stack.allowed(r, &findings{}) {
			for _, action := range st.actions {
				prefix, _, _ := strings.Cut(action, ":")
				service := dependencies()[prefix]
				if service == "" || called[service] {
					continue
				}
				called[service] = true
				for _, name := range []metric.Name{metric.Throttled, metric.Unanswered} {
					w.dependency(r, service, name)
				}
			}
		}
	}
}

// dependency reports a service if no unconditional alarm watches the metric, or if such an alarm doesn't name the
// service.
func (w *watch) dependency(r Resource, service string, name metric.Name) {
	own := map[string]string{metric.Stack: "${AWS::StackName}"}
	observers := w.by(Resource{}, metric.Namespace, string(name), name.Dimension(), service, own)
	if len(observers) == 0 {
		w.found.addf(r.ID, "may call %s, and no alarm watches its %s", service, name)
	}
	for _, o := range observers {
		if !strings.Contains(short(o.alarm.Properties["AlarmDescription"]), service) {
			w.found.addf(o.alarm.ID, "watches %s, and its description doesn't name it", service)
		}
	}
}

// watch collects findings about metrics that have no alarm.
type watch struct {
	stack *Stack
	found findings
}

// want adds a finding if no alarm watches the resource's metric.
func (w *watch) want(r Resource, namespace, metric, dimension, value string, others map[string]string) {
	if len(w.by(r, namespace, metric, dimension, value, others)) == 0 {
		w.found.addf(r.ID, "no alarm watches %s", metric)
	}
}

// observer is an alarm, together with its series that contains a given metric.
type observer struct {
	alarm Resource
	part  series
}

// by returns the alarms that watch a resource's metric.
func (w *watch) by(r Resource, namespace, metric, dimension, value string, others map[string]string) []observer {
	var all []observer
	for _, a := range w.stack.of(kindAlarm) {
		if a.Condition != "" && a.Condition != r.Condition {
			continue
		}
		for _, one := range seriesOf(a) {
			if one.watches(namespace, metric, dimension, value, others) {
				all = append(all, observer{a, one})
			}
		}
	}
	return all
}

// duration reports a function whose runs could approach its timeout unnoticed, because either no alarm watches Duration
// or its alarm assumes a different timeout.
func (w *watch) duration(f Resource) {
	observers := w.by(f, "AWS/Lambda", "Duration", "FunctionName", "${"+f.ID+"}", nil)
	if len(observers) == 0 {
		w.found.addf(f.ID, "no alarm watches Duration")
	}
	timeout := 1000 * float64(seconds(f.Properties["Timeout"], 3))
	for _, o := range observers {
		threshold, _ := strconv.ParseFloat(scalar(o.alarm.Properties["Threshold"]), 64)
		if o.part.id != "" {
			threshold *= divisor(o.alarm, o.part.id)
		}
		if threshold < nearTimeout*timeout || threshold >= timeout {
			w.found.addf(o.alarm.ID, "looks out for runs of %s of %.0f ms; its timeout is at %.0f ms", f.ID, threshold, timeout)
		}
	}
}

// divisor returns the number by which an alarm's expression divides a series, as in FILL(id, 0) / 10000, or 0 if there
// is no such division.
func divisor(alarm Resource, id string) float64 {
	share := regexp.MustCompile(fmt.Sprintf(`\bFILL\(%s, 0\) / (\d+)`, regexp.QuoteMeta(id)))
	for _, one := range seriesOf(alarm) {
		if m := share.FindStringSubmatch(one.expression); m != nil {
			by, _ := strconv.ParseFloat(m[1], 64)
			return by
		}
	}
	return 0
}

// silence reports a scheduled function without an alarm for missed runs. A function that never runs reports no errors.
func (w *watch) silence(f Resource) {
	breaking := func(o observer) bool {
		return scalar(o.alarm.Properties["TreatMissingData"]) == "breaching" &&
			scalar(o.alarm.Properties["ComparisonOperator"]) == "LessThanThreshold"
	}
	if !slices.ContainsFunc(w.by(f, "AWS/Lambda", "Invocations", "FunctionName", "${"+f.ID+"}", nil), breaking) {
		w.found.addf(f.ID, "no alarm goes off when its schedule stops")
	}
}
