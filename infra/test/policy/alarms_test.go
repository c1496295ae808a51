package policy_test

import (
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

const soundAlarms = `
  Topic: {Type: AWS::SNS::Topic}
  Plain:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmDescription: It failed. Runbook docs/operate/runbooks/plain.md
      Namespace: AWS/Lambda
      MetricName: Errors
      Dimensions: [{Name: FunctionName, Value: !Ref F}]
      TreatMissingData: notBreaching
      AlarmActions: [!Ref Topic]
      OKActions: [!Ref Topic]
  Math:
    Type: AWS::CloudWatch::Alarm
    Properties:
      AlarmDescription: It failed. Runbook docs/operate/runbooks/math.md
      Metrics:
        - {Id: percent, ReturnData: true, Expression: "IF(errors >= 5, 100 * errors / requests, 0)"}
        - {Id: errors, ReturnData: false, MetricStat: {Metric: {Namespace: N, MetricName: E}}}
        - {Id: requests, ReturnData: false, MetricStat: {Metric: {Namespace: N, MetricName: R}}}
      TreatMissingData: breaching
      AlarmActions: [!Ref Topic]
      OKActions: [!Ref Topic]
`

const runbook = "# It failed\n\n## What it means\n\n## How to look\n\n## What to do\n\n## Whom to wake\n\n## Over " +
	"when\n"

func TestAlarmsCheckFindsIncompleteRunbooks(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{
		"docs/operate/runbooks/plain.md": runbook,
		"docs/operate/runbooks/math.md":  strings.ReplaceAll(runbook, "Whom to wake", "Who knows"),
	})
	finds(t, policy.Alarms(resources(t, soundAlarms), tree), `docs/operate/runbooks/math.md: does not say "Whom to wake"`)
}

func TestAlarmsCheckFindsMissingRunbooksAndUnusedMetrics(t *testing.T) {
	t.Parallel()
	tree := files(t, map[string]string{
		"docs/operate/runbooks/plain.md": runbook, "docs/operate/runbooks/math.md": runbook,
	})
	rule := func(s *policy.Stack) []policy.Finding { return policy.Alarms(s, tree) }
	judge(t, soundAlarms, rule, map[string]example{
		"no runbook": {"Runbook docs/operate/runbooks/plain.md", "", []string{
			"Plain: its description names 0 runbooks (docs/operate/runbooks/….md), not one",
			"docs/operate/runbooks/plain.md: is the runbook of no alarm",
		}},
		"two runbooks": {"Runbook docs/operate/runbooks/plain.md", "docs/operate/runbooks/plain.md " +
			"docs/operate/runbooks/math.md", []string{
			"Plain: its description names 2 runbooks (docs/operate/runbooks/….md), not one",
		}},
		"no such runbook": {"docs/operate/runbooks/plain.md", "docs/operate/runbooks/gone.md", []string{
			"Plain: there is no runbook docs/operate/runbooks/gone.md",
			"docs/operate/runbooks/plain.md: is the runbook of no alarm",
		}},
		"unused metric": {"100 * errors / requests", "100 * errors", []string{"Math: no expression uses requests"}},
		"unknown metric": {
			"errors / requests", "errors / calls + requests",
			[]string{"Math: an expression uses calls, which is no metric of the alarm"},
		},
	})
}
