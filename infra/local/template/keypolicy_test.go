package template_test

import (
	"strings"
	"testing"
)

// closed is the start of a template that declares a role and two keys. Only tagged roles may use the first key. The
// second key, Files, may be used only through S3.
const closed = head + `  Key:
    Type: AWS::KMS::Key
    Properties:
      KeyPolicy:
        Version: '2012-10-17'
        Statement:
          - {Sid: Root, Effect: Allow, Principal: {AWS: x}, Action: kms:*, Resource: '*'}
          - {Sid: Tagged, Effect: Deny, Principal: '*', Action: [kms:Decrypt], Resource: '*',
            Condition: {StringNotEquals: {aws:PrincipalTag/opens: s}}}
  Files:
    Type: AWS::KMS::Key
    Properties:
      KeyPolicy:
        Version: '2012-10-17'
        Statement:
          - {Sid: S3, Effect: Deny, Principal: '*', Action: [kms:Decrypt], Resource: '*',
            Condition: {StringNotEquals: {kms:ViaService: s3}}}
` + trust + `      Tags: [{Key: opens, Value: s}]
      Policies:
        - PolicyName: own
          PolicyDocument:
            Version: '2012-10-17'
            Statement:
              - {Sid: Open, Effect: Allow, Action: kms:Decrypt, Resource: !GetAtt Key.Arn}
              - {Sid: Read, Effect: Allow, Action: kms:Decrypt, Resource: !GetAtt Files.Arn,
                Condition: {StringEquals: {kms:ViaService: s3}}}
`

func TestLoadRejectsPermissionsDeniedByKeyPolicy(t *testing.T) {
	t.Parallel()
	if _, err := loadText(t, closed, nil); err != nil {
		t.Fatal(err)
	}
	const own = "the tag opens of Key belongs to the roles that use the key, and to no others"
	change := func(old, replacement string) string { return strings.Replace(closed, old, replacement, 1) }
	expectRefusals(t, map[string]struct{ text, want string }{
		"a role without the tag": {change("      Tags: [{Key: opens, Value: s}]\n", ""), "20: R: " + own},
		"a tag for nothing": {change("Action: kms:Decrypt, Resource: !GetAtt Key.Arn",
			"Action: kms:Sign, Resource: !GetAtt Key.Arn"), "20: R: " + own},
		"files not by S3": {
			change(",\n                Condition: {StringEquals: {kms:ViaService: s3}}", ""),
			"20: R: Read allows what the policy of Files denies: it is not by s3",
		},
		"a denial with no end": {
			change(",\n            Condition: {StringNotEquals: {kms:ViaService: s3}}", ""),
			"18: Files: a key's policy can deny to roles without a tag, or what does not come by a service",
		},
		"a denial for other roles": {
			change("StringNotEquals: {kms:ViaService: s3}",
				"StringNotEquals: {aws:PrincipalArn: x}"),
			"19: Files: the property KeyPolicy.Statement.Condition.StringNotEquals.aws:PrincipalArn is not understood",
		},
	})
}
