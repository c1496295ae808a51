package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"recordbridge/infra/local/template"
	"recordbridge/infra/test/policy"
)

func TestTransformedCheckFindsAddedAndRemovedPermissions(t *testing.T) {
	t.Parallel()
	const good = `{"Resources": {
"Queue": {"Type": "AWS::SQS::Queue"},
"F": {"Type": "AWS::Lambda::Function", "DependsOn": ["Queue"], "Properties": {"Role": {"Fn::GetAtt": ["R", "Arn"]}}},
"R": {"Type": "AWS::IAM::Role", "Properties": {
  "AssumeRolePolicyDocument": {"Version": "2012-10-17",
   "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]},
  "Policies": [{"PolicyName": "own", "PolicyDocument": {"Version": "2012-10-17",
   "Statement": [{"Sid": "Send", "Effect": "Allow", "Action": ["sqs:SendMessage"],
    "Resource": [{"Fn::GetAtt": ["Queue", "Arn"]}]}]}}]
}}}}`
	functions := []template.Function{{LogicalID: "F", Statements: []template.Statement{{
		Sid: "Send", Actions: []string{"sqs:SendMessage"}, Resources: []string{"arn:aws:sqs:us-east-1:000000000000:s-Queue"},
	}}}}
	judgeFile := func(t *testing.T, text string) ([]policy.Finding, error) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "transformed.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return policy.Transformed(functions, file, template.Options{StackName: "s"})
	}
	found, err := judgeFile(t, good)
	if err != nil {
		t.Fatal(err)
	}
	finds(t, found)
	found, err = judgeFile(t, without(t, good, `"sqs:SendMessage"`, `"sqs:SendMessage", "sqs:DeleteMessage"`))
	if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].String(),
		"F: may do something else after SAM's transform") {
		t.Errorf("an action more: %v, %v", found, err)
	}
	found, err = judgeFile(t, without(t, good, `"F": {`,
		`"G": {"Type": "AWS::Lambda::Function", "Properties": {"Role": {"Fn::GetAtt": ["R", "Arn"]}}}, "F": {`))
	if err != nil {
		t.Fatal(err)
	}
	finds(t, found, "G: is a function that SAM adds")
	for change, text := range map[string]string{
		"a managed policy": without(t, good, `"Policies"`, `"ManagedPolicyArns": ["arn:aws:iam::aws:policy/x"], "Policies"`),
		"another role":     without(t, good, `{"Fn::GetAtt": ["R", "Arn"]}`, `"arn:aws:iam::1:role/x"`),
	} {
		if found, err := judgeFile(t, text); err == nil {
			t.Errorf("%s: found %v, want an error", change, found)
		}
	}
}
