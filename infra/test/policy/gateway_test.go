package policy_test

import (
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

func TestGatewayCheckFindsRoleMismatchWithRoutes(t *testing.T) {
	t.Parallel()
	const good = `
  Api:
    Type: AWS::Serverless::Api
    Properties:
      DefinitionBody:
        paths:
          /a: {get: {x-amazon-apigateway-integration: {credentials: !GetAtt Gate.Arn,
            uri: !Sub "arn:path/functions/${GetFunction.Arn}:live/invocations"}}}
          /b: !If [Sometimes, {get: {x-amazon-apigateway-integration:
            {uri: !Sub "arn:path/functions/${RareFunction.Arn}:live/invocations"}}}, !Ref AWS::NoValue]
  GetFunction: {Type: AWS::Serverless::Function}
  RareFunction: {Type: AWS::Serverless::Function}
  WorkFunction: {Type: AWS::Serverless::Function}
  Gate:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Principal: {Service: apigateway.amazonaws.com},
        Action: sts:AssumeRole}]}
      Policies:
        - PolicyDocument:
            Statement:
              - Effect: Allow
                Action: [lambda:InvokeFunction]
                Resource: [!Sub "${GetFunction.Arn}:live",
                  !If [Sometimes, !Sub "${RareFunction.Arn}:live", !Ref AWS::NoValue]]
`
	judge(t, good, policy.Gateway, map[string]example{
		"a route without permission": {
			`!If [Sometimes, !Sub "${RareFunction.Arn}:live", !Ref AWS::NoValue]`, "",
			[]string{"Gate: does not allow invoking RareFunction, which has a route"},
		},
		"a permission without route": {
			`[!Sub "${GetFunction.Arn}:live"`, `[!Sub "${GetFunction.Arn}:live", !Sub "${WorkFunction.Arn}:live"`,
			[]string{"Gate: allows invoking ${WorkFunction.Arn}:live, which has no route"},
		},
		"the newest version": {
			`[!Sub "${GetFunction.Arn}:live"`, `[!Sub "${GetFunction.Arn}"`,
			[]string{
				"Gate: allows invoking ${GetFunction.Arn}, which has no route",
				"Gate: does not allow invoking GetFunction, which has a route",
			},
		},
		"another action": {
			"[lambda:InvokeFunction]", "[lambda:InvokeFunction, lambda:UpdateFunctionCode]",
			[]string{"Gate: lambda:InvokeFunction, lambda:UpdateFunctionCode has no part in invoking functions"},
		},
		"a condition that API Gateway does not meet": {
			"Action: sts:AssumeRole",
			`Action: sts:AssumeRole, Condition: {StringEquals: {aws:SourceAccount: !Ref "AWS::AccountId"}}`,
			[]string{"Gate: has a condition on who assumes it, which API Gateway does not meet"},
		},
	})
}

func TestBudgetCheckFindsTooManyResources(t *testing.T) {
	t.Parallel()
	// api counts as 3 CloudFormation resources
	const api = "  Api: {Type: AWS::Serverless::Api}\n"
	// released counts as 6 CloudFormation resources, plus the CodeDeploy application
	const released = "  Visit: {Type: AWS::Serverless::Function, Properties: {DeploymentPreference: {}, " +
		"Events: {E: {Type: Schedule}}}}\n"
	var text strings.Builder
	text.WriteString(api + released)
	for range policy.MostResources - 10 {
		text.WriteString("  Q" + strings.Repeat("x", text.Len()%7) + ": {Type: AWS::SQS::Queue}\n")
	}
	finds(t, policy.Budget(resources(t, text.String())))
	text.WriteString("  One: {Type: AWS::SQS::Queue}\n")
	finds(t, policy.Budget(resources(t, text.String())), "template.yaml: becomes 451 resources, more than 450")
}

func TestCountedCheckFindsUnexpectedSAMResources(t *testing.T) {
	t.Parallel()
	before := resources(t, "  GetFunction: {Type: AWS::Serverless::Function}\n")
	const made = "  GetFunction: {Type: AWS::Lambda::Function}\n  GetFunctionVersion1: {Type: AWS::Lambda::Version}\n" +
		"  GetFunctionAliaslive: {Type: AWS::Lambda::Alias}\n"
	finds(t, policy.Counted(before, resources(t, made)))
	finds(t, policy.Counted(before, resources(t, made+"  GetFunctionAnyPermissionv1: {Type: AWS::Lambda::Permission}\n")),
		"GetFunction: becomes 4 resources, not 3", "template.yaml: becomes 4 resources, not 3")
}
