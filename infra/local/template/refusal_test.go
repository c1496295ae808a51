package template_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/local/template"
)

// head is the start of every small template. The text that a test appends begins at line 3.
const head = "Transform: AWS::Serverless-2016-10-31\nResources:\n"

// api declares a resource that tests add to their templates. run is the start of a function's declaration.
const (
	api = "  Api:\n    Type: AWS::Serverless::Api\n    Properties: {StageName: v1}\n" // 3 lines
	run = "    Type: AWS::Serverless::Function\n    Properties:\n      Runtime: provided.al2023\n"
)

func loadText(t *testing.T, text string, parameters map[string]string) (*template.Template, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "template.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return template.Load(file, template.Options{Parameters: parameters, BaseURL: "http://127.0.0.1:1", StackName: "s"})
}

// expectRefusals checks that loading each template fails with an error that ends with want, which contains a position
// and a reason.
func expectRefusals(t *testing.T, cases map[string]struct{ text, want string }) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := loadText(t, c.text, nil)
			if err == nil {
				t.Fatal("it loads")
			}
			if got := err.Error(); !strings.HasSuffix(got, "template.yaml:"+c.want) {
				t.Errorf("got  %s\nwant ...template.yaml:%s", got, c.want)
			}
		})
	}
}

func TestLoadRejectsInvalidTemplate(t *testing.T) {
	t.Parallel()
	const bucket = "  B: {Type: AWS::S3::Bucket}\n"
	expectRefusals(t, map[string]struct{ text, want string }{
		"an empty file": {"", "1: a template is a mapping with a Resources section"},
		"a list":        {"- 1\n", "1: a template is a mapping with a Resources section"},
		"another transform": {"Transform: AWS::Include\nResources: {}\n", `1: the Transform "AWS::Include" is not ` +
			`understood`},
		"an unknown section": {head + bucket + "Mappings: {}\n", "4: the property Mappings is not understood"},
		"a YAML anchor": {head + "  B: &b {Type: AWS::S3::Bucket}\n", "3: YAML anchors and aliases are understood " +
			"only as Metadata"},
		"a YAML alias": {
			"Metadata:\n  P: &p {BucketName: b}\n" + head + "  B:\n    Type: AWS::S3::Bucket\n    Properties: *p\n",
			"7: YAML anchors and aliases are understood only as Metadata",
		},
		"a key given twice":    {head + bucket + bucket, `4: "B" is given twice`},
		"a section of scalars": {"Transform: AWS::Serverless-2016-10-31\nResources: none\n", "2: Resources is not a mapping"},
		"unknown Globals": {
			head + bucket + "Globals:\n  HttpApi: {}\n", "5: the property Globals.HttpApi is not understood",
		},
	})
}

func TestLoadRejectsUnknownResourceOrAttribute(t *testing.T) {
	t.Parallel()
	expectRefusals(t, map[string]struct{ text, want string }{
		"an unknown type": {
			head + "  T:\n    Type: AWS::EC2::Instance\n", "3: T: the resource type AWS::EC2::Instance is not understood",
		},
		"an unknown type that its condition leaves out": {
			"Conditions:\n  No: !Equals [a, b]\n" + head + "  T: {Type: AWS::EC2::Instance, Condition: No}\n",
			"5: T: the resource type AWS::EC2::Instance is not understood",
		},
		"an unknown attribute": {
			head + "  B:\n    Type: AWS::S3::Bucket\n    DependsOn: A\n", "5: B: the property DependsOn is not understood",
		},
		"no type": {head + "  B:\n    Properties: {}\n", "4: B: Type is missing"},
		"metadata that is no linter's": {
			head + "  B:\n    Type: AWS::S3::Bucket\n    Metadata: {a: b}\n", "5: B: the property Metadata.a is not understood",
		},
		"how anything but a function is built": {
			head + "  B:\n    Type: AWS::S3::Bucket\n    Metadata: {BuildMethod: makefile}\n",
			"5: B: the property Metadata.BuildMethod is not understood",
		},
		"an unknown property": {
			head + "  B:\n    Type: AWS::S3::Bucket\n    Properties:\n      BucketName: x\n",
			"6: B: the property BucketName is not understood",
		},
		"an unknown nested property": {
			head + "  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      RedrivePolicy: {deadLetterTargetArn: a, x: 1}\n",
			"6: Q: the property RedrivePolicy.x is not understood",
		},
		"an unknown property of an alarm": {
			head + "  A:\n    Type: AWS::CloudWatch::Alarm\n    Properties:\n      Unit: Count\n",
			"6: A: the property Unit is not understood",
		},
		"an alarm of nothing": {
			head + "  A:\n    Type: AWS::CloudWatch::Alarm\n    Properties:\n" +
				"      Dimensions: [{Name: FunctionName, Value: !Ref Gone}]\n",
			"6: A: Ref to Gone, which is not in the template or left out by its Condition",
		},
		"an unknown property of a topic": {
			head + "  T:\n    Type: AWS::SNS::Topic\n    Properties:\n      FifoTopic: true\n",
			"6: T: the property FifoTopic is not understood",
		},
		"a number out of range": {
			head + "  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      VisibilityTimeout: 43201\n",
			"6: Q: VisibilityTimeout is not a number from 0 to 43200",
		},
		"a dead letter queue from elsewhere": {
			head + "  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n" +
				"      RedrivePolicy: {deadLetterTargetArn: 'arn:x', maxReceiveCount: 1}\n",
			" Q: its dead letter queue is not in the template, or leads back to it",
		},
		"a dead letter queue that refuses to be one": {
			head + "  D: {Type: AWS::SQS::Queue, Properties: {RedriveAllowPolicy: {redrivePermission: denyAll}}}\n  Q:\n" +
				"    Type: AWS::SQS::Queue\n    Properties:\n" +
				"      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 1}\n",
			" Q: its dead letter queue refuses to be one (RedriveAllowPolicy)",
		},
		"a secret in the template": {
			head + "  S:\n    Type: AWS::SecretsManager::Secret\n    Properties:\n      Description: x\n",
			"6: S: GenerateSecretString is missing: a secret's value never stands in the template",
		},
		"a parameter of another type": {
			head + "  P:\n    Type: AWS::SSM::Parameter\n    Properties: {Name: a, Value: b, Type: StringList}\n",
			`5: P: Type: "StringList" is not understood, only String`,
		},
		"a key attribute without a definition": {
			head + "  T:\n    Type: AWS::DynamoDB::Table\n    Properties:\n" +
				"      KeySchema:\n        - {AttributeName: pk, KeyType: HASH}\n",
			`7: T: the key attribute "pk" is not among the AttributeDefinitions`,
		},
		"a projection with attributes": {
			head + "  T:\n    Type: AWS::DynamoDB::Table\n    Properties:\n" +
				"      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]\n" +
				"      KeySchema: [{AttributeName: pk, KeyType: HASH}]\n      GlobalSecondaryIndexes:\n" +
				"        - IndexName: i\n          KeySchema: [{AttributeName: pk, KeyType: HASH}]\n" +
				"          Projection: {ProjectionType: INCLUDE}\n",
			`11: T: GlobalSecondaryIndexes.Projection.ProjectionType: "INCLUDE" is not understood, only KEYS_ONLY, ALL`,
		},
	})
}

func TestLoadRejectsUnsupportedFunction(t *testing.T) {
	t.Parallel()
	worker := head + "  WorkFunction:\n" + run
	expectRefusals(t, map[string]struct{ text, want string }{
		"another runtime": {
			head + "  WorkFunction:\n    Type: AWS::Serverless::Function\n    Properties:\n      Runtime: python3.14\n",
			`6: WorkFunction: Runtime: "python3.14" is not understood, only provided.al2023`,
		},
		"a name without a folder": {head + "  Worker:\n" + run, "3: Worker: a function's logical id ends in Function, " +
			"the rest is its folder"},
		"another build method": {
			head + "  WorkFunction:\n    Metadata: {BuildMethod: go1.x}\n" + run,
			`4: WorkFunction: Metadata.BuildMethod: "go1.x" is not understood, only makefile`,
		},
		"another build method, by its alias": {
			"Metadata:\n  Work: &work {BuildMethod: go1.x}\n" + head + "  WorkFunction:\n    Metadata: *work\n" + run,
			`2: WorkFunction: Metadata.BuildMethod: "go1.x" is not understood, only makefile`,
		},
		"an unknown property": {worker + "      Layers: []\n", "7: WorkFunction: the property Layers is not understood"},
		"an unknown property from Globals": {
			worker + "Globals:\n  Function:\n    VpcConfig: {}\n", "9: WorkFunction: the property VpcConfig is not understood",
		},
		"a variable that is a list": {
			worker + "      Environment:\n        Variables:\n          A: [x]\n",
			"9: WorkFunction: Environment.Variables.A is not a text",
		},
		"a policy that SAM would make a role of": {worker + "      Policies: []\n", "7: WorkFunction: the property " +
			"Policies is not understood"},
		"a role from elsewhere": {
			worker + "      Role: arn:aws:iam::1:role/x\n", `3: WorkFunction: Role "arn:aws:iam::1:role/x" is not a role ` +
				`for Lambda of the template`,
		},
		"another service's role": {
			worker + "      Role: !GetAtt R.Arn\n" + strings.Replace(trust, "lambda", "states", 1),
			`3: WorkFunction: Role "arn:aws:iam::000000000000:role/s-R" is not a role for Lambda of the template`,
		},
		"a log group from elsewhere": {
			worker + "      Role: !GetAtt R.Arn\n      LoggingConfig: {LogGroup: x}\n" + trust,
			`3: WorkFunction: LoggingConfig.LogGroup "x" is not a log group of the template`,
		},
		"a route of SAM's own": {
			worker + "      Events:\n        E: {Type: Api, Properties: {Method: GET, Path: /a}}\n",
			`8: WorkFunction: Type: "Api" is not understood, only SQS, Schedule`,
		},
		"an unknown event": {
			worker + "      Events:\n        E: {Type: SNS, Properties: {Topic: t}}\n",
			`8: WorkFunction: Type: "SNS" is not understood, only SQS, Schedule`,
		},
		"a cron schedule": {
			worker + "      Events:\n        E: {Type: Schedule, Properties: {Schedule: 'cron(0 1 * * ? *)'}}\n",
			"8: WorkFunction: Events.E.Schedule: cron expressions are not understood, only rate(...)",
		},
		"a rate that EventBridge refuses": {
			worker + "      Events:\n        E: {Type: Schedule, Properties: {Schedule: rate(1 minutes)}}\n",
			`8: WorkFunction: Events.E.Schedule "rate(1 minutes)" is not a rate(...): one minute, but more minutes`,
		},
		"a schedule whose failed runs AWS would repeat": {
			worker + "      Role: !GetAtt R.Arn\n      LoggingConfig: {LogGroup: !Ref G}\n      Events:\n" +
				"        E: {Type: Schedule, Properties: {Schedule: rate(1 hour)}}\n" +
				"  G: {Type: AWS::Logs::LogGroup, Properties: {LogGroupName: g}}\n" + trust,
			"3: WorkFunction: EventInvokeConfig.MaximumRetryAttempts is not 0: the runner repeats no scheduled run",
		},
		"an unknown property of a schedule": {
			worker + "      Events:\n        E: {Type: Schedule, Properties: {Schedule: rate(1 hour), Input: x}}\n",
			"8: WorkFunction: the property Events.E.Input is not understood",
		},
	})
}

// trust is the start of the declaration of a role that Lambda may assume. Tests add properties to the role.
const trust = "  R:\n    Type: AWS::IAM::Role\n    Properties:\n      AssumeRolePolicyDocument:\n" +
	"        Version: '2012-10-17'\n" +
	"        Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: sts:AssumeRole}]\n" // 6 lines

func TestLoadRejectsRoleWithUnsupportedPolicies(t *testing.T) {
	t.Parallel()
	const inline = head + trust + "      Policies:\n        - PolicyName: own\n          PolicyDocument:\n" +
		"            Version: '2012-10-17'\n            Statement:\n"
	expectRefusals(t, map[string]struct{ text, want string }{
		"a managed policy": {
			head + trust + "      ManagedPolicyArns: [AmazonS3FullAccess]\n", "9: R: the property ManagedPolicyArns is " +
				"not understood",
		},
		"a statement that denies": {
			inline + "              - {Effect: Deny, Action: s3:*, Resource: '*'}\n",
			`14: R: Policies.PolicyDocument.Statement.Effect: "Deny" is not understood, only Allow`,
		},
		"a statement for all but some actions": {
			inline + "              - {Effect: Allow, NotAction: s3:*, Resource: '*'}\n",
			"14: R: a statement names at least one Action and one Resource",
		},
		"a person who may take it": {
			head + strings.Replace(trust, "Service: lambda.amazonaws.com", "AWS: '*'", 1), "8: R: the property " +
				"AssumeRolePolicyDocument.Statement.Principal.AWS is not understood",
		},
		"a log group without a name": {head + "  G: {Type: AWS::Logs::LogGroup}\n", "3: G: LogGroupName is missing"},
	})
}

func TestLoadRejectsInvalidTrigger(t *testing.T) {
	t.Parallel()
	// 9 lines
	worker := head + "  Q: {Type: AWS::SQS::Queue}\n  WorkFunction:\n" + run + "      Timeout: 31\n      Events:\n"
	expectRefusals(t, map[string]struct{ text, want string }{
		"a queue whose messages come back while they are worked on": {
			worker + "        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}\n",
			"10: WorkFunction: the VisibilityTimeout of Q (30s) is shorter than the function's Timeout (31s)",
		},
		"a queue from elsewhere": {
			worker + "        E: {Type: SQS, Properties: {Queue: 'arn:aws:sqs:us-east-1:1:other'}}\n",
			`10: WorkFunction: Events.E.Queue "arn:aws:sqs:us-east-1:1:other" is not the ARN of a queue of the template`,
		},
		"a batch too large": {
			worker + "        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, BatchSize: 11}}\n",
			"10: WorkFunction: Events.E.BatchSize is not a number from 1 to 10",
		},
		"an unknown property": {
			worker + "        E: {Type: SQS, Properties: {Queue: !Ref Q, FilterCriteria: {}}}\n",
			`10: WorkFunction: Events.E.Queue "http://127.0.0.1:1/000000000000/s-Q" is not the ARN of a queue of the template`,
		},
	})
}

func TestLoadRejectsAPIThatGatewayCannotServe(t *testing.T) {
	t.Parallel()
	const responses = head + "  Api:\n    Type: AWS::Serverless::Api\n    Properties:\n      StageName: v1\n" +
		"      GatewayResponses:\n"
	expectRefusals(t, map[string]struct{ text, want string }{
		"an unknown property of the API": {
			head + "  Api:\n    Type: AWS::Serverless::Api\n    Properties: {StageName: v1, Cors: '*'}\n",
			"5: Api: the property Cors is not understood",
		},
		"a second API": {head + api + strings.Replace(api, "Api:", "Other:", 1), "6: Other: a second API is not understood"},
		"an unknown gateway response": {
			responses + "        TEAPOT: {StatusCode: 418}\n", "8: Api: there is no gateway response TEAPOT",
		},
		"a header from the request": {
			responses + "        THROTTLED: {ResponseParameters: {Headers: {a: method.request.header.b}}}\n",
			"8: Api: the value of GatewayResponses.THROTTLED.ResponseParameters.Headers.a is not understood, " +
				"only context.requestId and 'text'",
		},
		"a variable in a response": {
			responses + "        THROTTLED: {ResponseTemplates: {application/json: '$context.error.message'}}\n",
			"8: Api: GatewayResponses.THROTTLED.ResponseTemplates.$context.error.message is not understood in a response " +
				"template, only $context.requestId",
		},
		"a response that is not JSON": {
			responses + "        THROTTLED: {ResponseTemplates: {text/html: x}}\n",
			"8: Api: the property GatewayResponses.THROTTLED.ResponseTemplates.text/html is not understood",
		},
	})
}

func TestLoadRejectsInvalidPropertyValue(t *testing.T) {
	t.Parallel()
	const start = "Transform: AWS::Serverless-2016-10-31\nResources: {}\nParameters:\n"
	expectRefusals(t, map[string]struct{ text, want string }{
		"a pattern that matches a part only": {
			start + "  P: {Type: String, Default: ab, AllowedPattern: a, ConstraintDescription: An a.}\n",
			`4: P: the value "ab" does not match its AllowedPattern: An a.`,
		},
		"a pattern that one of a list does not match": {
			start + "  P: {Type: CommaDelimitedList, Default: 'a, b', AllowedPattern: a}\n",
			`4: P: the value "b" does not match its AllowedPattern: `,
		},
		"a pattern that is none": {
			start + "  P: {Type: String, Default: a, AllowedPattern: '('}\n",
			"4: P: AllowedPattern: error parsing regexp: missing closing ): `^(?:()$`",
		},
		"a value too long": {
			start + "  P: {Type: String, Default: ab, MaxLength: 1}\n",
			`4: P: the value "ab" is shorter than its MinLength or longer than its MaxLength`,
		},
		"a number too small": {
			start + "  P: {Type: Number, Default: 1, MinValue: 2}\n",
			`4: P: the value "1" is below its MinValue or above its MaxValue`,
		},
		"a number too large": {
			start + "  P: {Type: Number, Default: 3, MaxValue: 2}\n",
			`4: P: the value "3" is below its MinValue or above its MaxValue`,
		},
		"a bound that is no number": {
			start + "  P: {Type: Number, Default: 3, MaxValue: many}\n", `4: P: MinValue and MaxValue are numbers, not "many"`,
		},
	})
}
