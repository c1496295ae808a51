package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"recordbridge/infra/test/policy"
)

func identity(t *testing.T, name string) policy.Identity {
	t.Helper()
	text, err := os.ReadFile(root + "/infra/deploy/policies/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.ParseIdentity(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

func TestDeployerPoliciesAllowDeploymentOfStack(t *testing.T) {
	t.Parallel()
	for _, f := range policy.Deployer(need(t, stack), identity(t, "deployer"), identity(t, "deployer-data")) {
		t.Error(f)
	}
}

func TestOperatorPolicyAllowsActionsInDocument(t *testing.T) {
	t.Parallel()
	const document = "docs/operate/ctl.md"
	for _, f := range policy.Documented(document, "Permissions", need(t, tree).Text(document), identity(t, "operator")) {
		t.Error(f)
	}
}

// TestOperatorAndDeployerPoliciesGiveNoAccessToTokens checks the separation of roles: deployers read no data, and
// neither role reaches the Tokens table.
func TestOperatorAndDeployerPoliciesGiveNoAccessToTokens(t *testing.T) {
	t.Parallel()
	for _, st := range identity(t, "operator").Statement {
		if strings.Contains(strings.Join(st.Resource, " "), "TokensTable") {
			t.Errorf("operator: %s is on the Tokens table", st.Sid)
		}
	}
	deployer := policy.Actions(identity(t, "deployer"), identity(t, "deployer-data"))
	for _, action := range deployer {
		switch action {
		case "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:Scan", "kms:Decrypt", "kms:Sign",
			"secretsmanager:GetSecretValue", "sqs:ReceiveMessage", "lambda:InvokeFunction":
			t.Errorf("deployer: allows %s", action)
		}
	}
}

// TestBreakGlassPolicyAllowsNoDecryption checks the policy against docs/operate/incidents.md, "Break-glass".
func TestBreakGlassPolicyAllowsNoDecryption(t *testing.T) {
	t.Parallel()
	p := identity(t, "break-glass")
	for _, action := range policy.Actions(p) {
		if strings.HasPrefix(action, "kms:") || strings.HasPrefix(action, "secretsmanager:") {
			t.Errorf("allows %s", action)
		}
	}
	for _, st := range p.Statement {
		for _, resource := range st.Resource {
			if resource == "*" {
				t.Errorf("%s is on everything", st.Sid)
			}
		}
	}
}

// TestBreakGlassTrustRequiresSecondFactorAndNames checks the trust policy's text, because IAM evaluates it.
func TestBreakGlassTrustRequiresSecondFactorAndNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(root + "/infra/deploy/policies/break-glass-trust.json")
	if err != nil {
		t.Fatal(err)
	}
	var trust struct {
		Statement []struct {
			Condition struct{ Bool, StringLike map[string]string }
		}
	}
	if err := json.Unmarshal(text, &trust); err != nil {
		t.Fatal(err)
	}
	for _, st := range trust.Statement {
		if st.Condition.Bool["aws:MultiFactorAuthPresent"] != "true" || st.Condition.StringLike["sts:SourceIdentity"] == "" ||
			st.Condition.StringLike["sts:RoleSessionName"] == "" {
			t.Errorf("conditions: %+v", st.Condition)
		}
	}
	if len(trust.Statement) != 1 {
		t.Errorf("the trust policy has %d statements", len(trust.Statement))
	}
}

// TestFirstDeploymentFillsEveryPlaceholder checks that the page's commands use each file in infra/deploy/policies and
// replace each of its placeholders, such as ACCOUNT_ID.
func TestFirstDeploymentFillsEveryPlaceholder(t *testing.T) {
	t.Parallel()
	page := string(need(t, tree).Text("docs/operate/first-deployment.md"))
	files, err := filepath.Glob(root + "/infra/deploy/policies/*.json")
	if err != nil || len(files) < 7 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	placeholder := regexp.MustCompile(`\b(?:[A-Z]+(?:_[A-Z]+)+|REGION)\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if !regexp.MustCompile(`(?m)fill ` + name + `\b|for policy in [^;]*\b` + name + `\b`).MatchString(page) {
			t.Errorf("no command fills %s", name)
		}
		for _, found := range placeholder.FindAllString(string(text), -1) {
			if !strings.Contains(page, "s/"+found+"/") && !strings.Contains(page, "s|"+found+"|") {
				t.Errorf("%s: no command replaces %s", name, found)
			}
		}
	}
}

const deployerPolicy = `{"Version": "2012-10-17", "Statement": [
 {"Sid": "A", "Effect": "Allow", "Action": ["sqs:SetQueueAttributes", "ssm:PutParameter", "ssm:GetParameters",
  "ssm:DeleteParameter", "ssm:ListTagsForResource", "ssm:AddTagsToResource", "ssm:RemoveTagsFromResource"],
  "Resource": ["arn:aws:sqs:REGION:ACCOUNT_ID:STACK_NAME-*", "arn:aws:secretsmanager:REGION:ACCOUNT_ID:secret:Old-*"]}
]}`

func TestDeployerCheckFindsMissingAndUnneededActions(t *testing.T) {
	t.Parallel()
	const section = `
  P: {Type: AWS::SSM::Parameter}
  Q: {Type: AWS::SQS::QueuePolicy}
`
	parsed := func(text string) policy.Identity {
		p, err := policy.ParseIdentity([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := strings.Replace(deployerPolicy, `, "arn:aws:secretsmanager:REGION:ACCOUNT_ID:secret:Old-*"`, "", 1)
	finds(t, policy.Deployer(resources(t, section), parsed(good)))
	finds(t, policy.Deployer(resources(t, section+"  X: {Type: AWS::New::Thing}\n"), parsed(strings.Replace(
		deployerPolicy, "ssm:PutParameter", "dynamodb:GetItem", 1))),
		"infra/deploy/policies: AWS::New::Thing: add its actions to deployments, and to the deployer's policies",
		"infra/deploy/policies: AWS::SSM::Parameter needs ssm:PutParameter",
		"infra/deploy/policies: no deployment needs dynamodb:GetItem",
		"infra/deploy/policies: the policies name the secrets [Old], the template []",
	)
	for name, text := range map[string]string{
		"wildcard":  strings.Replace(deployerPolicy, "ssm:PutParameter", "ssm:*", 1),
		"too long":  strings.Replace(deployerPolicy, "STACK_NAME", strings.Repeat("x", 6000), 1),
		"misspelt":  strings.Replace(deployerPolicy, `"Sid"`, `"Sidd"`, 1),
		"exception": strings.Replace(deployerPolicy, "Allow", "Deny", 1),
	} {
		if _, err := policy.ParseIdentity([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDocumentedCheckFindsDifferences(t *testing.T) {
	t.Parallel()
	p, err := policy.ParseIdentity([]byte(
		`{"Statement": [{"Effect": "Allow", "Action": ["sqs:SendMessage", "kms:Sign"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const good = "# A\n\n## Rights\n\n- `sqs:SendMessage`, and\n  `kms:Sign` on `SecretsKey`\n\n## Other\n\n" +
		"`kms:Decrypt`\n"
	finds(t, policy.Documented("a.md", "Rights", []byte(good), p))
	finds(t, policy.Documented("a.md", "Rights", []byte("# A\n\n## Rights\n\n- `kms:Sign`, `Verify` and `Decrypt`\n"), p),
		"a.md: doesn't list sqs:SendMessage, which the policy allows",
		"a.md: kms:Decrypt is not in the policy",
		"a.md: kms:Verify is not in the policy")
}
