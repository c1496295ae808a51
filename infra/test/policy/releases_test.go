package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

// released is a stack with a patient-facing function, a function called with an API key, and a scheduled function.
const released = `
  Visit:
    Type: AWS::Serverless::Function
    Properties:
      AutoPublishAlias: live
      AutoPublishCodeSha256: !Ref Release
      ReservedConcurrentExecutions: !If [Keeps, !Ref ReservedConcurrency, !Ref "AWS::NoValue"]
      DeploymentPreference: {Enabled: !Ref GradualDeployment, Role: !GetAtt Shifter.Arn, Alarms: [!Ref Failures]}
  Get:
    Type: AWS::Serverless::Function
    Properties:
      AutoPublishAlias: live
      AutoPublishCodeSha256: !Ref Release
      Environment: {Variables: {KEY_HASHING_SECRET: !Ref Secret}}
  Tick:
    Type: AWS::Serverless::Function
    Properties:
      AutoPublishAlias: live
      AutoPublishCodeSha256: !Ref Release
      ReservedConcurrentExecutions: !If [Keeps, 1, !Ref "AWS::NoValue"]
      EventInvokeConfig: {MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60}
      Events: {EveryMinute: {Type: Schedule}}
  Shifter:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Principal: {Service: codedeploy.amazonaws.com},
        Action: sts:AssumeRole}]}
      Policies:
        - PolicyDocument:
            Statement:
              - {Effect: Allow, Action: [lambda:GetAlias, lambda:UpdateAlias, lambda:GetProvisionedConcurrencyConfig],
                Resource: [!Sub "${Visit.Arn}:live"]}
              - {Effect: Allow, Action: [cloudwatch:DescribeAlarms], Resource: ["*"]}
  Failures:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/Lambda
      MetricName: Errors
      Dimensions: [{Name: FunctionName, Value: !Ref Visit}, {Name: Resource, Value: !Sub "${Visit}:live"}]
`

func TestReleasesCheckFindsFunctionsThatCannotBeRolledBack(t *testing.T) {
	t.Parallel()
	pile := []string{"Tick: its scheduled runs pile up: they are repeated, kept, or run side by side"}
	releases := func(s *policy.Stack) []policy.Finding { return policy.Releases(s, []string{"Visit"}) }
	judge(t, released, releases, map[string]example{
		"old": {"AutoPublishCodeSha256: !Ref Release\n      Env", "Env", []string{
			"Get: a release makes no new version of it (AutoPublishAlias: live, AutoPublishCodeSha256: !Ref Release)",
		}},
		"at once": {"Enabled: !Ref GradualDeployment", "Enabled: false", []string{
			"Shifter: may lambda:GetAlias of [${Visit.Arn}:live], and has to shift []",
			"Shifter: may lambda:GetProvisionedConcurrencyConfig of [${Visit.Arn}:live], and has to shift []",
			"Shifter: may lambda:UpdateAlias of [${Visit.Arn}:live], and has to shift []",
			"Visit: is deployed gradually: false, called by patients' browsers: true",
		}},
		"nothing kept": {
			"!Ref ReservedConcurrency", "1",
			[]string{"Visit: has executions kept for it: false, called by patients' browsers: true"},
		},
		"repeated":     {"MaximumRetryAttempts: 0", "MaximumRetryAttempts: 1", pile},
		"old runs":     {"MaximumEventAgeInSeconds: 60", "MaximumEventAgeInSeconds: 90", pile},
		"side by side": {"!If [Keeps, 1,", "!If [Keeps, 2,", pile},
		"unwatched":    {"${Visit}:live", "${Get}:live", []string{"Visit: Failures does not watch the errors of its alias"}},
		"blind": {
			"cloudwatch:DescribeAlarms", "cloudwatch:ListMetrics",
			[]string{"Shifter: cannot look at alarms", "Shifter: cloudwatch:ListMetrics has no part in shifting"},
		},
		"too much": {
			"lambda:GetAlias, ", "lambda:GetAlias, lambda:InvokeFunction, ",
			[]string{"Shifter: lambda:InvokeFunction has no part in shifting"},
		},
	})
}
