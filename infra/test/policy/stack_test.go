package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/policy"
)

func TestAStackHasGlobalsInFunctionsAndLongIntrinsics(t *testing.T) {
	t.Parallel()
	got, err := policy.ParseStack([]byte(`
Globals:
  Function: {Timeout: 10, MemorySize: 256}
Resources:
  F:
    Type: AWS::Serverless::Function
    Condition: Sometimes
    Properties: {Timeout: 20, A: !Ref T, B: !GetAtt T.Arn, C: [!Sub "${T}/*", plain], D: !If [Sometimes, x, y]}
  T: {Type: AWS::DynamoDB::Table, Properties: {SSEEnabled: true}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &policy.Stack{Resources: []policy.Resource{
		{ID: "F", Type: "AWS::Serverless::Function", Condition: "Sometimes", Properties: map[string]any{
			"Timeout": "20", "MemorySize": "256",
			"A": map[string]any{"Ref": "T"}, "B": map[string]any{"Fn::GetAtt": "T.Arn"},
			"C": []any{map[string]any{"Fn::Sub": "${T}/*"}, "plain"}, "D": map[string]any{"Fn::If": []any{"Sometimes", "x", "y"}},
		}},
		{ID: "T", Type: "AWS::DynamoDB::Table", Properties: map[string]any{"SSEEnabled": "true"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stack (-want +got):\n%s", diff)
	}
}

func TestATextThatIsNoTemplateIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Resources: ["} {
		if got, err := policy.ParseStack([]byte(text)); err == nil {
			t.Errorf("%q gave %v, want an error", text, got)
		}
	}
}

func TestAStackMayBecomeTooLarge(t *testing.T) {
	t.Parallel()
	const function = `
  F%:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Get: {Type: Api}
        Any: {Type: Api}
        Queue: {Type: SQS}
        Minute: {Type: Schedule}
`
	s := resources(t, "  Api: {Type: AWS::Serverless::Api}\n  T: {Type: AWS::DynamoDB::Table}"+strings.ReplaceAll(function, "%", "1"))
	got, unknown := policy.Estimate(s)
	if want := 6 + 1 + 2 + 2*2 + 1 + 2; got != want {
		t.Errorf("got %d resources, want %d", got, want)
	}
	finds(t, unknown)
	finds(t, policy.Size(s))

	var large strings.Builder
	large.WriteString("  Api: {Type: AWS::Serverless::Api}")
	for i := range 50 {
		large.WriteString(strings.ReplaceAll(function, "%", strings.Repeat("x", i+1)))
	}
	finds(t, policy.Size(resources(t, large.String())), "template.yaml: may become 456 resources, more than 450")
}

func TestASizeThatCannotBeJudgedIsAFinding(t *testing.T) {
	t.Parallel()
	finds(t, policy.Size(resources(t, `
  A: {Type: AWS::Serverless::Application}
  F: {Type: AWS::Serverless::Function, Properties: {Events: {E: {Type: SNS}, N: {}}}}
`)),
		"A: cannot judge what a AWS::Serverless::Application becomes",
		"F: cannot judge what the event N becomes",
		"F: cannot judge what the event SNS becomes",
	)
}
