package ccda_test

import (
	"os"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

func TestEveryTemplateHasExactlyOneRule(t *testing.T) {
	t.Parallel()
	rules := map[string]string{}
	for _, template := range ccda.Templates() {
		rule := template.Folder + ": " + template.Name
		if other := rules[template.Root]; other != "" {
			t.Errorf("template %s has two rules: %s, and %s", template.Root, other, rule)
		}
		rules[template.Root] = rule
	}
}

func TestTemplatesReferToExistingRuleFolders(t *testing.T) {
	t.Parallel()
	for _, template := range ccda.Templates() {
		if _, err := os.Stat(template.Folder + "/rules.go"); err != nil {
			t.Errorf("%s: %v", template.Name, err)
		}
	}
}
