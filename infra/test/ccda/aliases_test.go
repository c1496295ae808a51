package ccdatest_test

import (
	"bytes"
	"regexp"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

var rootOfTemplate = regexp.MustCompile(`<templateId root="([0-9.]+)"`)

// TestConvertAcceptsTemplateAliases replaces template IDs with their aliases from older C-CDA releases. The replacement
// must not change the converted resources.
func TestConvertAcceptsTemplateAliases(t *testing.T) {
	t.Parallel()
	rules, ruleOf, most := map[string][]string{}, map[string]string{}, 0
	for _, template := range ccda.Templates() {
		rule := template.Folder + " " + template.Name
		rules[rule] = append(rules[rule], template.Root)
		ruleOf[template.Root] = rule
		most = max(most, len(rules[rule]))
	}
	// with replaces every template ID with its rule's alias at index place, for the rule named by only. If only is
	// empty, the template IDs of all rules are replaced.
	with := func(document []byte, only string, place int) []byte {
		return rootOfTemplate.ReplaceAllFunc(document, func(start []byte) []byte {
			rule := ruleOf[string(rootOfTemplate.FindSubmatch(start)[1])]
			if rule == "" || only != "" && rule != only {
				return start
			}
			return []byte(`<templateId root="` + rules[rule][place%len(rules[rule])] + `"`)
		})
	}
	_, documents := documentsIn(t, ownFolder)
	for name, document := range documents {
		whole := convert(t, document)
		for place := range most {
			if bytes.Equal(convert(t, with(document, "", place)), whole) {
				continue
			}
			for rule := range rules {
				if !bytes.Equal(convert(t, with(document, rule, place)), whole) {
					t.Errorf("%s: %s as %s becomes something else", name, rule, rules[rule][place%len(rules[rule])])
				}
			}
		}
	}
}
