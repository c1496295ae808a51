package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

const soundAlarms = `
  Topic: {Type: AWS::SNS::Topic}
  Plain:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmDescription: It failed. Runbook docs/runbooks/plain.md
      Namespace: AWS/Lambda
      MetricName: Errors
      Dimensions: [{Name: FunctionName, Value: !Ref F}]
      TreatMissingData: notBreaching
      AlarmActions: [!Ref Topic]
      OKActions: [!Ref Topic]
  Math:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmDescription: It failed. Runbook docs/runbooks/math.md
      Metrics:
        - {Id: percent, ReturnData: true, Expression: "IF(errors >= 5, 100 * errors / requests, 0)"}
        - {Id: errors, ReturnData: false, MetricStat: {Metric: {Namespace: N, MetricName: E}}}
        - {Id: requests, ReturnData: false, MetricStat: {Metric: {Namespace: N, MetricName: R}}}
      TreatMissingData: breaching
      AlarmActions: [!Ref Topic]
      OKActions: [!Ref Topic]
`

const runbook = "# It failed\n\n## What it means\n\n## How to look\n\n## What to do\n\n## Whom to wake\n\n## Over when\n"

func TestARunbookThatLeavesAQuestionOpenIsFound(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{
		"docs/runbooks/plain.md": runbook, "docs/runbooks/math.md": strings.ReplaceAll(runbook, "Whom to wake", "Who knows"),
	})
	finds(t, policy.Alarms(resources(t, soundAlarms), tree), `docs/runbooks/math.md: does not say "Whom to wake"`)
}

func TestAlarmsThatHelpNobodyAreFound(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{"docs/runbooks/plain.md": runbook, "docs/runbooks/math.md": runbook})
	rule := func(s *policy.Stack) []policy.Finding { return policy.Alarms(s, tree) }
	judge(t, soundAlarms, rule, map[string]example{
		"no runbook": {"Runbook docs/runbooks/plain.md", "", []string{
			"Plain: its description names 0 runbooks (docs/runbooks/….md), not one", "docs/runbooks/plain.md: is the runbook of no alarm",
		}},
		"two runbooks": {"Runbook docs/runbooks/plain.md", "docs/runbooks/plain.md docs/runbooks/math.md", []string{
			"Plain: its description names 2 runbooks (docs/runbooks/….md), not one",
		}},
		"no such runbook": {"docs/runbooks/plain.md", "docs/runbooks/gone.md", []string{
			"Plain: there is no runbook docs/runbooks/gone.md", "docs/runbooks/plain.md: is the runbook of no alarm",
		}},
		"nobody told":     {"AlarmActions: [!Ref Topic]", "", []string{"Plain: AlarmActions names no topic of the template"}},
		"told elsewhere":  {"AlarmActions: [!Ref Topic]", "AlarmActions: [!Ref Topic, 'arn:aws:sns:x']", []string{"Plain: AlarmActions names no topic of the template"}},
		"told no topic":   {"AlarmActions: [!Ref Topic]", "AlarmActions: [!Ref Plain]", []string{"Plain: AlarmActions names no topic of the template"}},
		"end not told":    {"OKActions: [!Ref Topic]", "", []string{"Plain: OKActions names no topic of the template"}},
		"undecided":       {"TreatMissingData: notBreaching", "", []string{"Plain: does not say whether missing data is breaching"}},
		"not evaluated":   {"TreatMissingData: breaching", "TreatMissingData: ignore", []string{"Math: does not say whether missing data is breaching"}},
		"search":          {"IF(errors >= 5, 100 * errors / requests, 0)", "SUM(SEARCH('x', 'Sum')) + errors + requests", []string{"Math: no alarm can be made of SEARCH", "Math: no expression uses errors", "Math: no expression uses requests"}},
		"unused metric":   {"100 * errors / requests", "100 * errors", []string{"Math: no expression uses requests"}},
		"unknown metric":  {"errors / requests", "errors / calls + requests", []string{"Math: an expression uses calls, which is no metric of the alarm"}},
		"nothing decides": {"{Id: percent, ReturnData: true", "{Id: percent, ReturnData: false", []string{"Math: its threshold is about 0 series, not one (ReturnData)"}},
		"two decide":      {"{Id: errors, ReturnData: false", "{Id: errors, ReturnData: true", []string{"Math: its threshold is about 2 series, not one (ReturnData)"}},
		"a query": {"IF(errors >= 5, 100 * errors / requests, 0)", "SELECT SUM(E) FROM N", []string{
			"Math: a query of Metrics Insights looks at other stacks of the account, too", "Math: no expression uses errors", "Math: no expression uses requests",
		}},
	})
}

func TestAnAlarmOfMoreMetricsThanCloudWatchTakesIsFound(t *testing.T) {
	t.Parallel()
	var metrics, sum strings.Builder
	for i := range 11 {
		fmt.Fprintf(&metrics, "        - {Id: m%d, ReturnData: false, MetricStat: {Metric: {Namespace: N, MetricName: M}}}\n", i)
		fmt.Fprintf(&sum, " + m%d", i)
	}
	s := resources(t, `
  Topic: {Type: AWS::SNS::Topic}
  A:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmDescription: docs/runbooks/a.md
      TreatMissingData: breaching
      AlarmActions: [!Ref Topic]
      OKActions: [!Ref Topic]
      Metrics:
        - {Id: sum, ReturnData: true, Expression: "0`+sum.String()+`"}
`+metrics.String())
	finds(t, policy.Alarms(s, files(t, map[string]string{"docs/runbooks/a.md": runbook})), "A: looks at 11 metrics, more than 10")
}
