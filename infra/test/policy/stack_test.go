package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recordbridge/infra/test/policy"
)

func TestParseStackAppliesGlobalsAndExpandsIntrinsics(t *testing.T) {
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
			"C": []any{map[string]any{"Fn::Sub": "${T}/*"}, "plain"},
			"D": map[string]any{"Fn::If": []any{"Sometimes", "x", "y"}},
		}},
		{ID: "T", Type: "AWS::DynamoDB::Table", Properties: map[string]any{"SSEEnabled": "true"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stack (-want +got):\n%s", diff)
	}
}

func TestParseStackRejectsInvalidTemplate(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Resources: ["} {
		if got, err := policy.ParseStack([]byte(text)); err == nil {
			t.Errorf("%q gave %v, want an error", text, got)
		}
	}
}
