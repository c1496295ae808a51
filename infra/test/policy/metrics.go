package policy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"recordbridge/shared/words/metric"
)

// standard lists the AWS metrics that alarms and dashboards may use, each with the sets of dimensions under which
// AWS stores the metric. The dimension Resource identifies an alias.
// https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
// https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
// https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
var standard = map[string]kept{
	"AWS/Lambda": {
		[][]string{{"FunctionName"}, {"FunctionName", "Resource"}},
		[]string{"Errors", "Throttles", "Duration", "Invocations", "ConcurrentExecutions"},
	},
	"AWS/SQS": {
		[][]string{{"QueueName"}},
		[]string{"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"},
	},
	"AWS/ApiGateway": {[][]string{{"ApiName", "Stage"}}, []string{"Count", "4XXError", "5XXError", "Latency"}},
	"AWS/DynamoDB":   {[][]string{{"TableName"}}, []string{"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"}},
	"AWS/WAFV2":      {[][]string{{"Region", "Rule", "WebACL"}}, []string{"AllowedRequests", "BlockedRequests"}},
}

// kept lists the metrics of an AWS namespace and, for each, the sets of dimensions under which AWS stores it.
type kept struct {
	sets    [][]string
	metrics []string
}

// searched matches a dashboard search for all dimension values of one of the service's metrics.
var searched = regexp.MustCompile(
	`^SEARCH\('\{Recordbridge,service,(\w+)\} MetricName="(\w+)" service="\$\{AWS::StackName\}"', ` +
		`'(?:Sum|Maximum)', 300\)$`)

// Metrics reports metrics in alarms or dashboards that are never sent or that include other stacks' data. It also
// reports the service's metrics and unconditional alarms that are not on exactly one dashboard.
func Metrics(s *Stack) []Finding {
	var found findings
	for _, a := range s.of(kindAlarm) {
		for _, one := range seriesOf(a) {
			if one.metric != "" {
				one.known(a.ID, &found)
			}
		}
	}
	on := map[string][]string{} // the dashboards that show a metric or alarm
	for _, d := range s.of(kindDashboard) {
		shown, isRead := s.shown(d, &found)
		if !isRead {
			return found.sorted()
		}
		for name := range shown {
			on[name] = append(on[name], d.ID)
		}
	}
	for _, name := range metric.Names() {
		once(string(name), on[string(name)], &found)
	}
	for _, a := range s.of(kindAlarm) {
		if a.Condition == "" {
			once(a.ID, on["${"+a.ID+".Arn}"], &found)
		}
	}
	return found.sorted()
}

// once reports a metric or alarm that is not on exactly one dashboard.
func once(name string, dashboards []string, found *findings) {
	if len(dashboards) != 1 {
		found.addf(name, "is on the dashboards %v, want one", dashboards)
	}
}

// widget holds the parts of a dashboard widget that the rules check.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
type widget struct {
	Properties struct {
		Alarms  []string
		Metrics [][]any
	}
}

// shown returns the metric names and alarm ARNs that a dashboard displays, as written in the template.
func (s *Stack) shown(d Resource, found *findings) (all map[string]bool, isRead bool) {
	var body struct{ Widgets []widget }
	if err := json.Unmarshal([]byte(short(d.Properties["DashboardBody"])), &body); err != nil {
		found.addf(d.ID, "its body is no JSON: %v", err)
		return nil, false
	}
	all = map[string]bool{}
	for _, w := range body.Widgets {
		for _, a := range w.Properties.Alarms {
			all[a] = true
		}
		for _, m := range w.Properties.Metrics {
			one := drawn(m)
			if parts := searched.FindStringSubmatch(one.expression); parts != nil {
				one.metric, one.namespace = parts[2], metric.Namespace
				one.dimensions = map[string]string{metric.Stack: "${AWS::StackName}", parts[1]: ""}
			}
			one.known(d.ID, found)
			all[one.metric] = true
		}
	}
	return all, true
}

// drawn parses a line of a graph: a namespace, a metric, alternating dimension names and values, and rendering options.
func drawn(m []any) series {
	texts := make([]string, 0, len(m))
	one := series{dimensions: map[string]string{}}
	for _, part := range m {
		texts = append(texts, scalar(part))
		one.expression += scalar(at(part, "expression"))
	}
	if len(texts) < 2 {
		return one
	}
	one.namespace, one.metric = texts[0], texts[1]
	for i := 2; i+1 < len(texts); i += 2 {
		one.dimensions[texts[i]] = texts[i+1]
	}
	return one
}

// known reports a metric that is never sent or that is not limited to this stack.
func (one series) known(where string, found *findings) {
	names := make([]string, 0, len(one.dimensions))
	isOwn := false
	for name, value := range one.dimensions {
		names = append(names, name)
		isOwn = isOwn || strings.HasPrefix(value, "${") && value != "${AWS::Region}"
	}
	slices.Sort(names)
	if !isSent(one.namespace, one.metric, names) {
		found.addf(where, "nobody sends the metric %s %s by %v", one.namespace, one.metric, names)
	} else if !isOwn {
		found.addf(where, "%s is not of this stack alone", one.metric)
	}
}

// isSent reports whether a metric with exactly the given sorted dimensions exists.
func isSent(namespace, name string, dimensions []string) bool {
	if namespace != metric.Namespace {
		known := standard[namespace]
		return slices.Contains(known.metrics, name) && contains(known.sets, dimensions)
	}
	own := metric.Name(name)
	sets := [][]string{{metric.Stack}}
	if dimension := own.Dimension(); dimension != "" {
		sets = [][]string{slices.Sorted(slices.Values([]string{dimension, metric.Stack}))}
	}
	if own == metric.OverdueSeconds {
		sets = append(sets, []string{metric.Stack})
	}
	return slices.Contains(metric.Names(), own) && contains(sets, dimensions)
}

func contains(sets [][]string, one []string) bool {
	return slices.ContainsFunc(sets, func(set []string) bool { return slices.Equal(set, one) })
}
