package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

// watched is a stack with a resource of each kind and all required alarms.
const watched = `
  Api: {Type: AWS::Serverless::Api, Properties: {StageName: v1}}
  Get: {Type: AWS::Serverless::Function, Properties: {Timeout: 10}}
  Sweep: {Type: AWS::Serverless::Function, Properties: {Timeout: 50, Events: {Minute: {Type: Schedule}}}}
  Sometimes: {Type: AWS::Serverless::Function, Condition: WithIt, Properties: {Timeout: 20}}
  Jobs: {Type: AWS::SQS::Queue, Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn}}}
  Dead: {Type: AWS::SQS::Queue}
  Role:
    Type: AWS::IAM::Role
    Properties: {Policies: [{PolicyName: own, PolicyDocument: {Statement: [
      {Effect: Allow, Action: ["dynamodb:GetItem", "kms:Decrypt", "xray:PutTraceSegments"], Resource: ["*"]}]}}]}
  Errors:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Metrics:
        - {Id: all, Expression: "SUM([get, sweep, sometimes])"}
        - {Id: get, MetricStat: {Metric:
            {Namespace: AWS/Lambda, MetricName: Errors, Dimensions: [{Name: FunctionName, Value: !Ref Get}]}}}
        - {Id: sweep, MetricStat: {Metric:
            {Namespace: AWS/Lambda, MetricName: Errors, Dimensions: [{Name: FunctionName, Value: !Ref Sweep}]}}}
        - {Id: sometimes, MetricStat: {Metric:
            {Namespace: AWS/Lambda, MetricName: Errors, Dimensions: [{Name: FunctionName, Value: !Ref Sometimes}]}}}
  Throttles:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Metrics:
        - {Id: all, Expression: "SUM([get, sweep, sometimes])"}
        - {Id: get, MetricStat: {Metric:
            {Namespace: AWS/Lambda, MetricName: Throttles, Dimensions: [{Name: FunctionName, Value: !Ref Get}]}}}
        - {Id: sweep, MetricStat: {Metric:
            {Namespace: AWS/Lambda, MetricName: Throttles, Dimensions: [{Name: FunctionName, Value: !Ref Sweep}]}}}
        - {Id: sometimes, MetricStat: {Metric:
            {Namespace: AWS/Lambda, MetricName: Throttles, Dimensions: [{Name: FunctionName, Value: !Ref Sometimes}]}}}
  Duration:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Threshold: 0.9
      Metrics:
        - {Id: longest, Expression: "MAX([FILL(get, 0) / 10000, FILL(sweep, 0) / 50000])"}
        - {Id: get, MetricStat: {Metric:
            {Namespace: AWS/Lambda, MetricName: Duration, Dimensions: [{Name: FunctionName, Value: !Ref Get}]}}}
        - {Id: sweep, MetricStat: {Metric:
            {Namespace: AWS/Lambda, MetricName: Duration, Dimensions: [{Name: FunctionName, Value: !Ref Sweep}]}}}
  Longer:
    Type: AWS::CloudWatch::Alarm
    Condition: WithIt
    Properties: {Namespace: AWS/Lambda, MetricName: Duration, Dimensions: [{Name: FunctionName, Value: !Ref Sometimes}],
      Threshold: 19000}
  Silent:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/Lambda
      MetricName: Invocations
      Dimensions: [{Name: FunctionName, Value: !Ref Sweep}]
      ComparisonOperator: LessThanThreshold
      TreatMissingData: breaching
  Age:
    Type: AWS::CloudWatch::Alarm
    Properties: {Namespace: AWS/SQS, MetricName: ApproximateAgeOfOldestMessage,
      Dimensions: [{Name: QueueName, Value: !GetAtt Jobs.QueueName}]}
  Letters:
    Type: AWS::CloudWatch::Alarm
    Properties: {Namespace: AWS/SQS, MetricName: ApproximateNumberOfMessagesVisible,
      Dimensions: [{Name: QueueName, Value: !GetAtt Dead.QueueName}]}
  Failing:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/ApiGateway
      MetricName: 5XXError
      Dimensions: [{Name: ApiName, Value: !Ref "AWS::StackName"}, {Name: Stage, Value: v1}]
  Slow:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/ApiGateway
      MetricName: Latency
      Dimensions: [{Name: ApiName, Value: !Ref "AWS::StackName"}, {Name: Stage, Value: v1}]
  Refused: {Type: AWS::CloudWatch::Alarm,
    Properties: {AlarmDescription: DynamoDB failed, Namespace: Recordbridge, MetricName: Throttled,
      Dimensions: [{Name: service, Value: !Ref "AWS::StackName"}, {Name: dependency, Value: DynamoDB}]}}
  Broken: {Type: AWS::CloudWatch::Alarm,
    Properties: {AlarmDescription: DynamoDB failed, Namespace: Recordbridge, MetricName: Unanswered,
      Dimensions: [{Name: service, Value: !Ref "AWS::StackName"}, {Name: dependency, Value: DynamoDB}]}}
  KeysRefused: {Type: AWS::CloudWatch::Alarm,
    Properties: {AlarmDescription: KMS failed, Namespace: Recordbridge, MetricName: Throttled,
      Dimensions: [{Name: service, Value: !Ref "AWS::StackName"}, {Name: dependency, Value: KMS}]}}
  KeysBroken: {Type: AWS::CloudWatch::Alarm,
    Properties: {AlarmDescription: KMS failed, Namespace: Recordbridge, MetricName: Unanswered,
      Dimensions: [{Name: service, Value: !Ref "AWS::StackName"}, {Name: dependency, Value: KMS}]}}
`

func TestWatchedCheckFindsUnwatchedMetrics(t *testing.T) {
	t.Parallel()
	refused := "{Namespace: AWS/Lambda, MetricName: Throttles, Dimensions: [{Name: FunctionName, Value: !Ref Get}]}"
	judge(t, watched, policy.Watched, map[string]example{
		"functions": {
			refused,
			"{Namespace: AWS/Lambda, MetricName: Invocations, Dimensions: [{Name: FunctionName, Value: !Ref Get}]}",
			[]string{"Get: no alarm watches Throttles"},
		},
		"namespace": {
			refused,
			"{Namespace: AWS/Kinesis, MetricName: Throttles, Dimensions: [{Name: FunctionName, Value: !Ref Get}]}",
			[]string{"Get: no alarm watches Throttles"},
		},
		"other dimension": {
			refused,
			"{Namespace: AWS/Lambda, MetricName: Throttles, Dimensions: [{Name: Resource, Value: !Ref Get}]}",
			[]string{"Get: no alarm watches Throttles"},
		},
		"another function": {
			refused,
			"{Namespace: AWS/Lambda, MetricName: Throttles, Dimensions: [{Name: FunctionName, Value: !Ref Sweep}]}",
			[]string{"Get: no alarm watches Throttles"},
		},
		"duration": {
			"MetricName: Duration, Dimensions: [{Name: FunctionName, Value: !Ref Get}]",
			"MetricName: Duration",
			[]string{"Get: no alarm watches Duration"},
		},
		"another timeout": {
			"Timeout: 10}", "Timeout: 28}",
			[]string{"Duration: looks out for runs of Get of 9000 ms; its timeout is at 28000 ms"},
		},
		"another divisor": {
			"FILL(sweep, 0) / 50000", "FILL(sweep, 0) / 900000",
			[]string{"Duration: looks out for runs of Sweep of 810000 ms; its timeout is at 50000 ms"},
		},
		"not in the math": {
			", FILL(sweep, 0) / 50000", "",
			[]string{"Duration: looks out for runs of Sweep of 0 ms; its timeout is at 50000 ms"},
		},
		"never reached": {
			"Threshold: 0.9", "Threshold: 1",
			[]string{
				"Duration: looks out for runs of Get of 10000 ms; its timeout is at 10000 ms",
				"Duration: looks out for runs of Sweep of 50000 ms; its timeout is at 50000 ms",
			},
		},
		"in seconds": {
			"Threshold: 19000", "Threshold: 19",
			[]string{"Longer: looks out for runs of Sometimes of 19 ms; its timeout is at 20000 ms"},
		},
		"other condition": {
			"    Condition: WithIt\n    Properties: {Namespace: AWS/Lambda",
			"    Condition: WithOther\n    Properties: {Namespace: AWS/Lambda",
			[]string{"Sometimes: no alarm watches Duration"},
		},
		"silence unheard": {
			"TreatMissingData: breaching", "TreatMissingData: notBreaching",
			[]string{"Sweep: no alarm goes off when its schedule stops"},
		},
		"silence wanted": {
			"LessThanThreshold", "GreaterThanThreshold",
			[]string{"Sweep: no alarm goes off when its schedule stops"},
		},
		"age": {
			"!GetAtt Jobs.QueueName", "!GetAtt Dead.QueueName",
			[]string{"Jobs: no alarm watches ApproximateAgeOfOldestMessage"},
		},
		"dead letters": {
			"ApproximateNumberOfMessagesVisible", "NumberOfMessagesSent",
			[]string{"Dead: no alarm watches ApproximateNumberOfMessagesVisible"},
		},
		"errors of no stage": {", {Name: Stage, Value: v1}", "", []string{"Api: no alarm watches 5XXError"}},
		"errors of more": {
			"{Name: Stage, Value: v1}", "{Name: Stage, Value: v1}, {Name: Method, Value: GET}",
			[]string{"Api: no alarm watches 5XXError"},
		},
		"an API with a name": {
			"{StageName: v1}", "{StageName: v1, Name: front}",
			[]string{"Api: no alarm watches 5XXError", "Api: no alarm watches Latency"},
		},
		"latency": {"MetricName: Latency", "MetricName: Count", []string{"Api: no alarm watches Latency"}},
		"tables' throttles": {
			"MetricName: Throttled,\n      Dimensions: [{Name: service, Value: !Ref \"AWS::StackName\"}, " +
				"{Name: dependency, Value: DynamoDB}]",
			"MetricName: Throttled",
			[]string{"Role: may call DynamoDB, and no alarm watches its Throttled"},
		},
		"another stack's": {
			"MetricName: Unanswered,\n      Dimensions: [{Name: service, Value: !Ref \"AWS::StackName\"}, " +
				"{Name: dependency, Value: KMS}",
			"MetricName: Unanswered, Dimensions: [{Name: service, Value: other}, {Name: dependency, Value: KMS}",
			[]string{"Role: may call KMS, and no alarm watches its Unanswered"},
		},
		"a new service": {
			"kms:Decrypt", "ses:SendEmail", []string{
				"Role: may call SES, and no alarm watches its Throttled",
				"Role: may call SES, and no alarm watches its Unanswered",
			},
		},
		"a nameless service": {
			"AlarmDescription: KMS failed, Namespace: Recordbridge, MetricName: Throttled",
			"AlarmDescription: A service failed, Namespace: Recordbridge, MetricName: Throttled",
			[]string{"KeysRefused: watches KMS, and its description doesn't name it"},
		},
		"a conditional alarm": {
			"  KeysBroken: {Type: AWS::CloudWatch::Alarm,", "  KeysBroken: {Type: AWS::CloudWatch::Alarm, Condition: WithIt,",
			[]string{"Role: may call KMS, and no alarm watches its Unanswered"},
		},
		"a new function": {
			"  Jobs:", "  New: {Type: AWS::Serverless::Function, Properties: {Timeout: 10}}\n  Jobs:",
			[]string{"New: no alarm watches Duration", "New: no alarm watches Errors", "New: no alarm watches Throttles"},
		},
		"a new queue": {
			"  Jobs:", "  More: {Type: AWS::SQS::Queue}\n  Jobs:",
			[]string{"More: no alarm watches ApproximateAgeOfOldestMessage"},
		},
	})
}
