package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

// example is a change to a correct template section, with the findings that must result.
type example struct {
	part, replacement string
	want              []string
}

// judge checks that a rule reports nothing for a correct section and the expected findings for each altered section.
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

func TestQueuesCheckFindsVisibilityTimeoutShorterThanConsumerTimeout(t *testing.T) {
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

func TestRolesCheckFindsSharedAndUnusedRoles(t *testing.T) {
	t.Parallel()
	const good = `
  Get: {Type: AWS::Serverless::Function, Condition: Sometimes, Properties: {Role: !GetAtt GetRole.Arn}}
  GetRole:
    Type: AWS::IAM::Role
    Condition: Sometimes
    Properties:
      AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com},
        Action: sts:AssumeRole}]}
`
	taken := []string{"GetRole: can be taken by others than Lambda"}
	judge(t, good, policy.Roles, map[string]example{
		"another's": {"!GetAtt GetRole.Arn", "arn:aws:iam::1:role/x", []string{
			"Get: has no role of the template", "GetRole: is the role of 0 functions, not of one: []",
		}},
		"shared": {"  GetRole:", "  Put: {Type: AWS::Serverless::Function, Condition: Sometimes, Properties: {Role: " +
			"!GetAtt GetRole.Arn}}\n  GetRole:", []string{
			"GetRole: is the role of 2 functions, not of one: [Get Put]",
		}},
		"condition":       {"    Condition: Sometimes\n", "", []string{"Get: its role GetRole has another condition"}},
		"another service": {"lambda.amazonaws.com", "states.amazonaws.com", taken},
		"a person, too":   {"Service: lambda.amazonaws.com", "Service: lambda.amazonaws.com, AWS: x", taken},
	})
}
