package template_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// valueOf returns the value of an output that expression defines.
func valueOf(t *testing.T, expression string) (string, error) {
	t.Helper()
	tpl, err := loadText(t, `Transform: AWS::Serverless-2016-10-31
Parameters:
  Colour: {Type: String, Default: blue}
  Count: {Type: Number, Default: 3}
  Ranges: {Type: CommaDelimitedList, Default: "10.0.0.0/8, 127.0.0.0/8"}
Conditions:
  IsBlue: !Equals [!Ref Colour, blue]
  IsRed: {"Fn::Equals": [{Ref: Colour}, red]}
  NotRed: !Not [!Condition IsRed]
  Both: !And [!Condition IsBlue, {Condition: NotRed}, !Equals ["3", !Ref Count]]
  Neither: !Or [!Condition IsRed, !Not [!Condition NotRed]]
Resources:
  Left: {Type: AWS::S3::Bucket}
  Out: {Type: AWS::S3::Bucket, Condition: IsRed}
  Jobs: {Type: AWS::SQS::Queue}
  Hidden: {Type: AWS::S3::BucketPolicy, Properties: {}}
Outputs:
  Value:
    Value: `+expression+"\n", nil)
	if err != nil {
		return "", err
	}
	return tpl.Outputs["Value"], nil
}

func TestLoadResolvesIntrinsicFunctions(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`plain`:                                "plain",
		`!Ref Colour`:                          "blue",
		`{Ref: Count}`:                         "3",
		`!Ref AWS::Region`:                     "us-east-1",
		`!Ref Left`:                            "s-left",
		`!Ref Jobs`:                            "http://127.0.0.1:1/000000000000/s-Jobs",
		`!GetAtt Jobs.QueueName`:               "s-Jobs",
		`{"Fn::GetAtt": [Jobs, Arn]}`:          "arn:aws:sqs:us-east-1:000000000000:s-Jobs",
		`{"Fn::GetAtt": Left.Arn}`:             "arn:aws:s3:::s-left",
		`!Sub "${AWS::StackName}/${Left.Arn}"`: "s/arn:aws:s3:::s-left",
		`!Sub "a ${!Literal} $ {b}"`:           "a ${Literal} $ {b}",
		`{"Fn::Sub": "${Colour}"}`:             "blue",
		`!Join ["|", !Ref Ranges]`:             "10.0.0.0/8|127.0.0.0/8",
		`!Join ["", [a, !Ref Colour]]`:         "ablue",
		`!If [IsBlue, yes it is, !Ref Out]`:    "yes it is",
		`!If [IsRed, !Ref Out, no]`:            "no",
		`!If [NotRed, a, b]`:                   "a",
		`!If [Both, a, b]`:                     "a",
		`!If [Neither, a, b]`:                  "b",
		`!Join [",", [a, !If [IsRed, b, !Ref AWS::NoValue], c]]`: "a,c",
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			got, err := valueOf(t, expression)
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestLoadRejectsInvalidExpressions(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`!Select [1, !Ref Ranges]`: "19: the function !Select is not understood",
		`!ImportValue x`:           "19: the function !ImportValue is not understood",
		`{"Fn::FindInMap": [a]}`:   "19: the function Fn::FindInMap is not understood here",
		`{"Fn::Sub": a, b: c}`:     "19: the function Fn::Sub is not understood here",
		`!Ref Nobody`:              "19: Value: Ref to Nobody, which is not in the template or left out by its Condition",
		`!Ref Out`:                 "19: Value: Ref to Out, which is not in the template or left out by its Condition",
		`!Ref Hidden`:              "19: Value: Ref to Hidden is not understood: a AWS::S3::BucketPolicy has no name here",
		`!Ref [a]`:                 "19: Value: Ref takes a name",
		`!Ref Ranges`:              "19: Value: a text is wanted here",
		`!Ref AWS::NoValue`:        "19: Value: a text is wanted here",
		`!GetAtt Nobody.Arn`:       "19: Value: GetAtt of Nobody, which is not in the template or left out by its Condition",
		`!GetAtt Left.DomainName`: "19: Value: GetAtt Left.DomainName: this attribute of a AWS::S3::Bucket is not " +
			"understood",
		`!GetAtt Left`:       "19: Value: Fn::GetAtt takes a resource and an attribute",
		`!Sub "${Nobody}"`:   "19: Value: Ref to Nobody, which is not in the template or left out by its Condition",
		`!Sub "${Ranges}"`:   "19: Value: ${Ranges} is a list and cannot stand in a text",
		`!Sub [a, b]`:        "19: Value: Fn::Sub takes a text; names of its own are not understood",
		`!Join [",", a]`:     "19: Value: a list is wanted here",
		`!Join [","]`:        "19: Value: Fn::Join takes a list of a delimiter and a list of texts",
		`!If [Nobody, a, b]`: "19: Value: the condition Nobody does not exist or leads back to itself",
		`!If [IsBlue, a]`:    "19: Value: Fn::If takes a list of a condition and two values",
		`!Equals [a, b]`:     "19: Value: Fn::Equals has no meaning outside Conditions",
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			_, err := valueOf(t, expression)
			if err == nil {
				t.Fatal("it resolves")
			}
			if got := err.Error(); !strings.HasSuffix(got, "template.yaml:"+want) {
				t.Errorf("got  %s\nwant ...template.yaml:%s", got, want)
			}
		})
	}
}

func TestLoadValidatesParametersAgainstDeclaration(t *testing.T) {
	t.Parallel()
	const text = `Transform: AWS::Serverless-2016-10-31
Parameters:
  Flag: {Type: String, Default: "false", AllowedValues: ["true", "false"]}
  Count: {Type: Number, Default: 3}
  Needed: {Type: String}
Resources: {}
`
	for name, c := range map[string]struct {
		given map[string]string
		want  string
	}{
		"a value that is not allowed": {
			map[string]string{"Flag": "maybe"},
			`3: Flag: the value "maybe" is not one of its AllowedValues`,
		},
		"a number that is none": {map[string]string{"Count": "many"}, `4: Count: the value "many" is not a number`},
		"no value at all":       {nil, "5: Needed: the parameter has no Default and no value was given"},
		"a name that is not declared": {
			map[string]string{"Needed": "x", "Flagg": "true"}, " Flagg: the template has no such parameter",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := loadText(t, text, c.given)
			if err == nil {
				t.Fatal("it loads")
			}
			if got := err.Error(); !strings.HasSuffix(got, "template.yaml:"+c.want) {
				t.Errorf("got  %s\nwant ...template.yaml:%s", got, c.want)
			}
		})
	}
}

func TestLoadRejectsParameterOfUnknownType(t *testing.T) {
	t.Parallel()
	const start = "Transform: AWS::Serverless-2016-10-31\nResources: {}\nParameters:\n"
	expectRefusals(t, map[string]struct{ text, want string }{
		"an unknown type": {
			start + "  P: {Type: AWS::SSM::Parameter::Value<String>, Default: a}\n",
			`4: P: Type: "AWS::SSM::Parameter::Value<String>" is not understood, only String, Number, CommaDelimitedList`,
		},
		"an unknown property": {
			start + "  P: {Type: String, Default: a, NoEcho: true}\n", "4: P: the property NoEcho is not understood",
		},
	})
}

func TestGlobalsAreMergedAsInSAM(t *testing.T) {
	t.Parallel()
	tpl, err := loadText(t, `Transform: AWS::Serverless-2016-10-31
Globals:
  Function:
    Runtime: provided.al2023
    Timeout: 7
    Role: !GetAtt Role.Arn
    LoggingConfig: {LogGroup: !Ref Group}
    Environment:
      Variables: {SHARED: global, OWN: global, COMPUTED: global}
  Api:
    OpenApiVersion: 3.0.1
    BinaryMediaTypes: [a/a]
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties: {StageName: v1, BinaryMediaTypes: [b/b]}
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Version: "2012-10-17"
        Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: sts:AssumeRole}]
  Group: {Type: AWS::Logs::LogGroup, Properties: {LogGroupName: group}}
  PlainFunction:
    Type: AWS::Serverless::Function
  RichFunction:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 9
      Environment:
        Variables: {OWN: own, COMPUTED: !Ref AWS::Region}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, rich := tpl.Functions[0], tpl.Functions[1]
	if diff := cmp.Diff(map[string]string{"SHARED": "global", "OWN": "global", "COMPUTED": "global"},
		plain.Environment); diff != "" {
		t.Errorf("a function that says nothing (-want +got):\n%s", diff)
	}
	want := maps.Clone(plain.Environment)
	want["OWN"], want["COMPUTED"] = "own", "us-east-1"
	if diff := cmp.Diff(want, rich.Environment); diff != "" {
		t.Errorf("a function that says some (-want +got):\n%s", diff)
	}
	if plain.Timeout.Seconds() != 7 || rich.Timeout.Seconds() != 9 {
		t.Errorf("got timeouts %v and %v, want 7s and 9s", plain.Timeout, rich.Timeout)
	}
	if diff := cmp.Diff([]string{"a/a", "b/b"}, tpl.API.BinaryMediaTypes); diff != "" {
		t.Errorf("a list (-want +got):\n%s", diff)
	}
}

func TestLoadRejectsInvalidCondition(t *testing.T) {
	t.Parallel()
	const start = "Transform: AWS::Serverless-2016-10-31\nResources:\n  B: {Type: AWS::S3::Bucket}\nConditions:\n"
	expectRefusals(t, map[string]struct{ text, want string }{
		"a circle": {
			start + "  A: !Not [!Condition B]\n  B: !Not [!Condition A]\n",
			"6: A: the condition A does not exist or leads back to itself",
		},
		"something else": {start + "  A: !Ref AWS::Region\n", "5: A: this is not a condition"},
		"a resource": {
			start + "  A: !Equals [!Ref B, b]\n",
			"5: A: Ref to B, which is not in the template or left out by its Condition",
		},
		"one to compare": {start + "  A: !Equals [a]\n", "5: A: Fn::Equals takes a list of two values"},
		"two to negate": {
			start + "  A: !Not [!Equals [a, b], !Equals [a, b]]\n",
			"5: A: Fn::Not takes a list of one condition",
		},
		"one to combine": {
			start + "  A: !And [!Equals [a, b]]\n",
			"5: A: Fn::And and Fn::Or take a list of 2 to 10 conditions",
		},
		"a broken member": {
			start + "  A: !Or [!Equals [a, a], !Condition X]\n",
			"5: A: the condition X does not exist or leads back to itself",
		},
	})
}
