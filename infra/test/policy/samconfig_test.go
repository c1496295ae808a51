package policy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"recordbridge/infra/local/template"
)

var overrides = regexp.MustCompile(
	`(?m)^\[(\w+)\.deploy\.parameters\]\n(?:[^\[\n].*\n)*?parameter_overrides = "([^"]*)"`)

// TestTemplateAcceptsParametersOfEveryEnvironment checks that each environment's parameters are valid for the template.
// Invalid parameters would make a deployment fail halfway.
func TestTemplateAcceptsParametersOfEveryEnvironment(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile(root + "/samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{"with a domain": "DomainName=api.example.org " +
		"DomainCertificateArn=arn:aws:acm:eu-west-1:111122223333:certificate/0a"}
	for _, m := range overrides.FindAllStringSubmatch(string(config), -1) {
		named[m[1]] = m[2]
	}
	for environment, given := range named {
		parameters := map[string]string{}
		for pair := range strings.FieldsSeq(given) {
			name, value, _ := strings.Cut(pair, "=")
			parameters[name] = value
		}
		if _, err := template.Load(root+"/template.yaml",
			template.Options{Parameters: parameters, BaseURL: "http://127.0.0.1:1", StackName: "s"}); err != nil {
			t.Errorf("%s: %v", environment, err)
		}
	}
	if len(named) != 4 {
		t.Errorf("samconfig.toml has parameters for %d environments, want dev, staging and prod", len(named)-1)
	}
}
