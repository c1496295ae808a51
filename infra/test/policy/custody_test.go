package policy_test

import (
	"testing"

	"recordbridge/infra/test/policy"
)

const custodyStack = `
  TokensTable: {Type: AWS::DynamoDB::Table}
  TokensKey: {Type: AWS::KMS::Key}
  GetFunction: {Type: AWS::Serverless::Function, Properties: {Role: !GetAtt GetRole.Arn}}
  GetRole:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Statement:
              - {Sid: Tokens, Effect: Allow, Action: [dynamodb:GetItem], Resource: [!GetAtt TokensTable.Arn]}
              - {Sid: Open, Effect: Allow, Action: [kms:Decrypt], Resource: [!GetAtt TokensKey.Arn],
                Condition: {StringEquals: {"kms:EncryptionContext:purpose": tokens}}}
              - {Sid: Sign, Effect: Allow, Action: [kms:Sign], Resource: [!GetAtt TokensKey.Arn]}
`

func TestCustodyCheckFindsMismatchWithTemplate(t *testing.T) {
	t.Parallel()
	document := []byte("| Read or change a row of the Tokens table | `get` |\n| Open patients' tokens | `get` |\n| Sign " +
		"as our client | `get` |\n| Use TokensKey | `get` |\n")
	custody := func(s *policy.Stack) []policy.Finding { return policy.Custody(s, document) }
	judge(t, custodyStack, custody, map[string]example{
		"reads no tokens": {
			"[dynamodb:GetItem], Resource: [!GetAtt TokensTable.Arn]",
			"[dynamodb:GetItem], Resource: [!GetAtt OtherTable.Arn]",
			[]string{
				"SECURITY.md: Read or change a row of the Tokens table: lists [get], by the template []",
			},
		},
		"seals only": {
			"[kms:Decrypt]", "[kms:GenerateDataKey]",
			[]string{"SECURITY.md: Open patients' tokens: lists [get], by the template []"},
		},
		"another purpose": {
			"purpose\": tokens", "purpose\": upstream",
			[]string{"SECURITY.md: Open patients' tokens: lists [get], by the template []"},
		},
		"no key": {
			"[kms:Decrypt], Resource: [!GetAtt TokensKey.Arn]", "[kms:Decrypt], Resource: [!GetAtt OtherKey.Arn]",
			[]string{"SECURITY.md: Open patients' tokens: lists [get], by the template []"},
		},
		"no signer": {
			"kms:Sign", "kms:Verify",
			[]string{"SECURITY.md: Sign as our client: lists [get], by the template []"},
		},
	})
}
