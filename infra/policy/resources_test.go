package policy_test

import (
	"testing"

	"recordbridge/infra/policy"
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

func TestUnsafeQueuesAreFound(t *testing.T) {
	t.Parallel()
	const good = `
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      SqsManagedSseEnabled: true
      VisibilityTimeout: 60
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}
  Dead: {Type: AWS::SQS::Queue, Properties: {KmsMasterKeyId: !Ref Key}}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 10
      Events: {Jobs: {Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, FunctionResponseTypes: [ReportBatchItemFailures]}}}
`
	judge(t, good, policy.Queues, map[string]example{
		"no dead letters": {
			"      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}\n", "",
			[]string{"Dead: has no dead letter queue", "Jobs: has no dead letter queue"},
		},
		"plain":       {"SqsManagedSseEnabled: true", "SqsManagedSseEnabled: false", []string{"Jobs: is not encrypted"}},
		"plain dead":  {"KmsMasterKeyId: !Ref Key", "", []string{"Dead: is not encrypted"}},
		"impatient":   {"VisibilityTimeout: 60", "VisibilityTimeout: 59", []string{"Jobs: hides messages for 59 s, less than 6 times the timeout of Worker (60 s)"}},
		"by default":  {"      VisibilityTimeout: 60\n", "", []string{"Jobs: hides messages for 30 s, less than 6 times the timeout of Worker (60 s)"}},
		"whole batch": {", FunctionResponseTypes: [ReportBatchItemFailures]", "", []string{"Worker: does not report which messages of a batch failed (ReportBatchItemFailures)"}},
	})
}

func TestUnsafeBucketsAreFound(t *testing.T) {
	t.Parallel()
	const good = `
  Files:
    Type: AWS::S3::Bucket
    Properties:
      BucketEncryption: {ServerSideEncryptionConfiguration: [{ServerSideEncryptionByDefault: {SSEAlgorithm: "aws:kms"}}]}
      PublicAccessBlockConfiguration: {BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true}
      LifecycleConfiguration: {Rules: [{Status: Enabled, ExpirationInDays: 10}]}
  FilesPolicy:
    Type: AWS::S3::BucketPolicy
    Properties:
      Bucket: !Ref Files
      PolicyDocument:
        Statement:
          - Effect: Deny
            Principal: "*"
            Action: s3:*
            Resource: [!GetAtt Files.Arn, !Sub "${Files.Arn}/*"]
            Condition: {Bool: {aws:SecureTransport: "false"}}
`
	plain := []string{"Files: has no policy that denies plain HTTP"}
	judge(t, good, policy.Buckets, map[string]example{
		"plain":          {`SSEAlgorithm: "aws:kms"`, "", []string{"Files: is not encrypted"}},
		"public":         {"IgnorePublicAcls: true", "IgnorePublicAcls: false", []string{"Files: may be public: IgnorePublicAcls is not true"}},
		"forever":        {"Status: Enabled", "Status: Disabled", []string{"Files: has no lifecycle rule that is enabled"}},
		"other bucket":   {"Bucket: !Ref Files", "Bucket: !Ref Others", plain},
		"allow":          {"Effect: Deny", "Effect: Allow", plain},
		"one caller":     {`Principal: "*"`, "Principal: {AWS: x}", plain},
		"one action":     {"s3:*", "s3:GetObject", plain},
		"not objects":    {`, !Sub "${Files.Arn}/*"`, "", plain},
		"without reason": {`aws:SecureTransport: "false"`, `aws:SecureTransport: "true"`, plain},
	})
}

func TestUnsafeTablesAreFound(t *testing.T) {
	t.Parallel()
	const good = `
  Work:
    Type: AWS::DynamoDB::Table
    Properties: {SSESpecification: {SSEEnabled: true}, PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}}
  Flow:
    Type: AWS::DynamoDB::Table
    Properties: {SSESpecification: {SSEEnabled: true}}
`
	rule := func(s *policy.Stack) []policy.Finding { return policy.Tables(s, []string{"Flow"}) }
	judge(t, good, rule, map[string]example{
		"plain": {"SSESpecification: {SSEEnabled: true}, ", "", []string{"Work: is not encrypted with a key of KMS"}},
		"lossy": {"RecoveryEnabled: true", "RecoveryEnabled: false", []string{"Work: has no point-in-time recovery"}},
		"newer": {"  Flow:", "  Other:", []string{"Other: has no point-in-time recovery"}},
	})
}

func TestUnlimitedFunctionsAreFound(t *testing.T) {
	t.Parallel()
	const good = `
  Get:
    Type: AWS::Serverless::Function
    Condition: Sometimes
    Properties: {Architectures: [arm64], Timeout: 28, MemorySize: 256, Events: {Get: {Type: Api, Properties: {Path: /x}}}}
  GetLogGroup:
    Type: AWS::Logs::LogGroup
    Condition: Sometimes
    Properties: {LogGroupName: !Sub "/aws/lambda/${Get}", RetentionInDays: !Ref Days}
`
	judge(t, good, policy.Functions, map[string]example{
		"no logs":      {"/aws/lambda/${Get}", "/aws/lambda/${Other}", []string{"Get: has no log group"}},
		"endless logs": {", RetentionInDays: !Ref Days", "", []string{"Get: its log group GetLogGroup keeps logs forever"}},
		"condition":    {"    Condition: Sometimes\n    Properties: {Arch", "    Properties: {Arch", []string{"Get: its log group GetLogGroup has another condition"}},
		"intel":        {"Architectures: [arm64]", "Architectures: [x86_64]", []string{"Get: does not run on arm64"}},
		"no timeout":   {"Timeout: 28, ", "", []string{"Get: has no Timeout"}},
		"no memory":    {"MemorySize: 256, ", "", []string{"Get: has no MemorySize"}},
		"too patient":  {"Timeout: 28", "Timeout: 29", []string{"Get: may run for 29 s, longer than API Gateway waits"}},
	})
}
