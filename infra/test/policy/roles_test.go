package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

func TestARoleThatIsNotOneFunctionsOwnIsFound(t *testing.T) {
	t.Parallel()
	const good = `
  Get: {Type: AWS::Serverless::Function, Condition: Sometimes, Properties: {Role: !GetAtt GetRole.Arn}}
  GetRole:
    Type: AWS::IAM::Role
    Condition: Sometimes
    Properties:
      AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com},
        Action: sts:AssumeRole}]}
`
	taken := []string{"GetRole: can be taken by others than Lambda"}
	judge(t, good, policy.Roles, map[string]example{
		"another's": {"!GetAtt GetRole.Arn", "arn:aws:iam::1:role/x", []string{
			"Get: has no role of the template", "GetRole: is the role of 0 functions, not of one: []",
		}},
		"shared": {"  GetRole:", "  Put: {Type: AWS::Serverless::Function, Condition: Sometimes, Properties: {Role: " +
			"!GetAtt GetRole.Arn}}\n  GetRole:", []string{
			"GetRole: is the role of 2 functions, not of one: [Get Put]",
		}},
		"condition":       {"    Condition: Sometimes\n", "", []string{"Get: its role GetRole has another condition"}},
		"another service": {"lambda.amazonaws.com", "states.amazonaws.com", taken},
		"a person, too":   {"Service: lambda.amazonaws.com", "Service: lambda.amazonaws.com, AWS: x", taken},
	})
}
