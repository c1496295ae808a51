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

func TestUnsafeQueuesAreFound(t *testing.T) {
	t.Parallel()
	const good = `
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      SqsManagedSseEnabled: true
      VisibilityTimeout: 60
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}
      RedriveAllowPolicy: {redrivePermission: denyAll}
  Closed:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Jobs, !Ref Dead]
      PolicyDocument: {Statement: [{Effect: Deny, Principal: "*", Action: sqs:*, Resource: "*", Condition: {Bool: {aws:SecureTransport: "false"}}}]}
  Dead: {Type: AWS::SQS::Queue, Properties: {KmsMasterKeyId: !Ref Key, MessageRetentionPeriod: 1209600}}
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
		"plain":      {"SqsManagedSseEnabled: true", "SqsManagedSseEnabled: false", []string{"Jobs: is not encrypted"}},
		"plain HTTP": {"!Ref Jobs, !Ref Dead", "!Ref Jobs", []string{"Dead: has no policy that denies plain HTTP"}},
		"open":       {"denyAll", "allowAll", []string{"Jobs: may be made the dead letter queue of another (RedriveAllowPolicy)"}},
		"dead letters elsewhere": {
			"!GetAtt Dead.Arn", "arn:aws:sqs:us-east-1:111122223333:dead",
			[]string{"Dead: has no dead letter queue", "Jobs: has no dead letter queue"},
		},
		"plain dead":  {"KmsMasterKeyId: !Ref Key, ", "", []string{"Dead: is not encrypted"}},
		"forgetful":   {", MessageRetentionPeriod: 1209600", "", []string{"Dead: keeps messages for 345600 s, not longer than Jobs (345600 s)"}},
		"collecting":  {"FunctionResponseTypes:", "MaximumBatchingWindowInSeconds: 5, FunctionResponseTypes:", []string{"Jobs: hides messages for 60 s, less than 6 times the timeout of Worker (65 s)"}},
		"elsewhere":   {"Queue: !GetAtt Jobs.Arn", "Queue: !Ref JobsArn", []string{"Worker: takes messages of a queue that is not in the template"}},
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
      OwnershipControls: {Rules: [{ObjectOwnership: BucketOwnerEnforced}]}
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
		"plain":        {`SSEAlgorithm: "aws:kms"`, "", []string{"Files: is not encrypted"}},
		"public":       {"IgnorePublicAcls: true", "IgnorePublicAcls: false", []string{"Files: may be public: IgnorePublicAcls is not true"}},
		"forever":      {"Status: Enabled", "Status: Disabled", []string{"Files: has no lifecycle rule that is enabled"}},
		"other bucket": {"Bucket: !Ref Files", "Bucket: !Ref Others", plain},
		"allow":        {"Effect: Deny", "Effect: Allow", plain},
		"one caller":   {`Principal: "*"`, "Principal: {AWS: x}", plain},
		"one action":   {"s3:*", "s3:GetObject", plain},
		"not objects":  {`, !Sub "${Files.Arn}/*"`, "", plain},
		"access lists": {
			"BucketOwnerEnforced", "ObjectWriter",
			[]string{"Files: may have objects that others own: its access lists are not switched off"},
		},
		"without reason": {`aws:SecureTransport: "false"`, `aws:SecureTransport: "true"`, plain},
	})
}

func TestUnlimitedFunctionsAreFound(t *testing.T) {
	t.Parallel()
	const good = `
  Get:
    Type: AWS::Serverless::Function
    Condition: Sometimes
    Properties: {Architectures: [!Ref Architecture], Timeout: 28, MemorySize: 256, LoggingConfig: {LogGroup: !Ref GetLogGroup}}
  Api:
    Type: AWS::Serverless::Api
    Properties:
      DefinitionBody: {paths: {/x: {get: {x-amazon-apigateway-integration: {uri: !Sub "arn:path/functions/${Get.Arn}:live/invocations"}}}}}
  GetLogGroup:
    Type: AWS::Logs::LogGroup
    Condition: Sometimes
    Properties: {LogGroupName: get, RetentionInDays: !Ref Days}
`
	judge(t, good, policy.Functions, map[string]example{
		"no logs":      {"!Ref GetLogGroup", "/aws/lambda/get", []string{"Get: has no log group of the template"}},
		"endless logs": {", RetentionInDays: !Ref Days", "", []string{"Get: its log group GetLogGroup keeps logs forever"}},
		"condition":    {"    Condition: Sometimes\n    Properties: {Arch", "    Properties: {Arch", []string{"Get: its log group GetLogGroup has another condition"}},
		"intel":        {"[!Ref Architecture]", "[x86_64]", []string{"Get: does not run on the processor of the deployment (Architecture)"}},
		"no timeout":   {"Timeout: 28, ", "", []string{"Get: has no Timeout"}},
		"no memory":    {"MemorySize: 256, ", "", []string{"Get: has no MemorySize"}},
		"too patient":  {"Timeout: 28", "Timeout: 29", []string{"Get: may run for 29 s, longer than API Gateway waits"}},
	})
}
