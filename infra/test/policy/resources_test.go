package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

// example is one change of a good section, and what it brings up.
type example struct {
	part, replacement string
	want              []string
}

// judge runs a rule over a good section, which has to stay without findings, and over each change of it.
func judge(t *testing.T, good string, rule func(*policy.Stack) []policy.Finding, examples map[string]example) {
	t.Helper()
	finds(t, rule(resources(t, good)))
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finds(t, rule(resources(t, without(t, good, e.part, e.replacement))), e.want...)
		})
	}
}

func TestQueuesFindsVisibilityShorterThanConsumer(t *testing.T) {
	t.Parallel()
	const good = `
  Jobs: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 60}}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 10
      Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn}}}
`
	judge(t, good, policy.Queues, map[string]example{
		"collecting": {
			"{Queue: !GetAtt Jobs.Arn", "{MaximumBatchingWindowInSeconds: 5, Queue: !GetAtt Jobs.Arn",
			[]string{"Jobs: hides messages for 60 s, less than 6 times the timeout of Worker (65 s)"},
		},
		"elsewhere": {
			"Queue: !GetAtt Jobs.Arn", "Queue: !Ref JobsArn",
			[]string{"Worker: takes messages of a queue that is not in the template"},
		},
		"impatient": {
			"VisibilityTimeout: 60", "VisibilityTimeout: 59",
			[]string{"Jobs: hides messages for 59 s, less than 6 times the timeout of Worker (60 s)"},
		},
		"by default": {
			"{VisibilityTimeout: 60}", "{}",
			[]string{"Jobs: hides messages for 30 s, less than 6 times the timeout of Worker (60 s)"},
		},
	})
}
