package policy_test

import (
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
	"recordbridge/shared/words/metric"
)

// shownMetrics returns a stack with an alarm and a dashboard that displays all metrics.
func shownMetrics() string {
	var lines strings.Builder
	for _, name := range metric.Names() {
		dimension := ""
		if of := name.Dimension(); of != "" {
			dimension = `,"` + of + `","x"`
		}
		lines.WriteString(`,["Recordbridge","` + string(name) + `","service","${AWS::StackName}"` + dimension +
			`,{"stat":"Sum"}]`)
	}
	return `
  Dead: {Type: AWS::SQS::Queue}
  Letters:
    Type: AWS::CloudWatch::Alarm
    Properties: {Namespace: AWS/SQS, MetricName: ApproximateNumberOfMessagesVisible,
      Dimensions: [{Name: QueueName, Value: !GetAtt Dead.QueueName}]}
  Sometimes:
    Type: AWS::CloudWatch::Alarm
    Condition: Seldom
    Properties: {Namespace: Recordbridge, MetricName: OverdueSeconds,
      Dimensions: [{Name: service, Value: !Ref "AWS::StackName"}]}
  Dashboard:
    Type: AWS::CloudWatch::Dashboard
    Properties:
      DashboardBody: !Sub |
        {"widgets":[{"properties":{"alarms":["${Letters.Arn}"]}},{"properties":{"metrics":[
        [{"expression":
        "SEARCH('{Recordbridge,service,outcome} MetricName=\"Exports\" service=\"${AWS::StackName}\"', 'Sum', 300)"}]
        ` + lines.String() + `]}}]}
`
}

func TestMetricsCheckFindsMetricsThatAreNeverEmitted(t *testing.T) {
	t.Parallel()
	judge(t, shownMetrics(), policy.Metrics, map[string]example{
		"no JSON": {
			`{"widgets":`, `{"widgets"`,
			[]string{`Dashboard: its body is no JSON: invalid character '[' after object key`},
		},
		"unknown": {
			`["Recordbridge","Limited"`, `["Recordbridge","Limits"`,
			[]string{
				"Dashboard: nobody sends the metric Recordbridge Limits by [limit service]",
				"Limited: is on the dashboards [], want one",
			},
		},
		"other words": {
			`service","${AWS::StackName}","limit"`, `service","${AWS::StackName}","org"`,
			[]string{"Dashboard: nobody sends the metric Recordbridge Limited by [org service]"},
		},
		"all stacks": {
			`"Limited","service","${AWS::StackName}"`, `"Limited","service","any"`,
			[]string{"Dashboard: Limited is not of this stack alone"},
		},
		"a search": {
			`MetricName=\"Exports\"`, `MetricName=\"Import\"`,
			[]string{"Dashboard: nobody sends the metric Recordbridge Import by [outcome service]"},
		},
		"a wide search": {` service=\"${AWS::StackName}\"`, ``, []string{"Dashboard: nobody sends the metric   by []"}},
		"on two dashboards": {
			"  Dead:", "  More: {Type: AWS::CloudWatch::Dashboard, Properties: {DashboardBody: '{\"widgets\":[{\"properties\":" +
				"{\"alarms\":[\"${Letters.Arn}\"]}}]}'}}\n  Dead:",
			[]string{"Letters: is on the dashboards [More Dashboard], want one"},
		},
		"of all stacks of the region": {
			"[{Name: QueueName, Value: !GetAtt Dead.QueueName}]", `[{Name: QueueName, Value: !Ref "AWS::Region"}]`,
			[]string{"Letters: ApproximateNumberOfMessagesVisible is not of this stack alone"},
		},
		"no such alarm": {`"${Letters.Arn}"`, ``, []string{"Letters: is on the dashboards [], want one"}},
		"AWS has not": {
			"MetricName: ApproximateNumberOfMessagesVisible", "MetricName: NumberOfMessagesLost",
			[]string{"Letters: nobody sends the metric AWS/SQS NumberOfMessagesLost by [QueueName]"},
		},
		"not so": {
			"Namespace: AWS/SQS", "Namespace: AWS/Lambda",
			[]string{"Letters: nobody sends the metric AWS/Lambda ApproximateNumberOfMessagesVisible by [QueueName]"},
		},
		"of all queues": {
			"Value: !GetAtt Dead.QueueName", "Value: dead",
			[]string{"Letters: ApproximateNumberOfMessagesVisible is not of this stack alone"},
		},
		"no metric more": {
			"MetricName: OverdueSeconds", "MetricName: Overdue",
			[]string{"Sometimes: nobody sends the metric Recordbridge Overdue by [service]"},
		},
	})
}
