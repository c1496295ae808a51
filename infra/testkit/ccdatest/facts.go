// Package ccdatest helps tests check the conversion of C-CDA sections. The package converts complete documents, or
// documents with a single section, and searches the resulting resources by path and value.
package ccdatest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

// Case is a section entry with its expected resources. Each string in Want names a resource type and the paths that the
// resource must have, with their values. A path that begins with "!" must not exist. A number in a path is a list
// index.
type Case struct {
	Name    string
	Section string // LOINC code, or a complete <section> without its end tag
	Entries string
	Want    []string
	Never   []string // resources that must not occur, in the same form as Want
}

// Check converts the entry and checks the resulting resources.
func (f Case) Check(t *testing.T) {
	t.Helper()
	resources := Facts(t, f.Section, f.Entries)
	for _, want := range f.Want {
		if !Has(resources, want) {
			t.Errorf("there is no %s in\n%s", want, strings.Join(Shown(resources), "\n"))
		}
	}
	for _, never := range f.Never {
		if Has(resources, never) {
			t.Errorf("there is a %s in\n%s", never, strings.Join(Shown(resources), "\n"))
		}
	}
}

// Run checks each case in a parallel subtest.
func Run(t *testing.T, cases []Case) {
	t.Helper()
	for _, f := range cases {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			f.Check(t)
		})
	}
}

// Resource holds a resource's paths, both with and without list indexes.
type Resource struct {
	Kind   string
	Values map[string]bool // each key is "path=value" or a path alone
	JSON   string
}

// Facts converts a document with one section and returns the resources.
func Facts(t *testing.T, section, entries string) []Resource {
	t.Helper()
	if !strings.HasPrefix(section, "<") {
		section = `<section><code code="` + section + `" codeSystem="2.16.840.1.113883.6.1"/>`
	}
	document := `<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc"
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<id root="2.16.840.1.113883.19.9" extension="doc"/><effectiveTime value="20200102030405+0000"/>
<recordTarget><patientRole><id root="2.16.840.1.113883.19.1" extension="p"/></patientRole></recordTarget>
<componentOf><encompassingEncounter><id root="2.16.840.1.113883.19.3" extension="visit"/>
<effectiveTime><low value="20200101"/></effectiveTime></encompassingEncounter></componentOf>
<component><structuredBody><component>` + section + entries + `</section></component></structuredBody>` +
		`</component></ClinicalDocument>`
	var all []Resource
	_, err := ccda.Convert([]byte(document), func(r ccda.Resource) error {
		var content any
		p := Resource{Kind: r.Type, Values: map[string]bool{}, JSON: string(r.JSON)}
		if err := json.Unmarshal(r.JSON, &content); err != nil {
			return fmt.Errorf("read %s: %w", r.Type, err)
		}
		p.read([]string{""}, content)
		all = append(all, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// read records content under each of the paths in at.
func (p Resource) read(at []string, content any) {
	for _, path := range at {
		p.Values[path] = true
	}
	switch content := content.(type) {
	case map[string]any:
		for name, inner := range content {
			below := make([]string, 0, len(at))
			for _, path := range at {
				below = append(below, strings.TrimPrefix(path+"."+name, "."))
			}
			p.read(below, inner)
		}
	case []any:
		for i, inner := range content {
			below := slices.Clone(at)
			for _, path := range at {
				below = append(below, path+"."+strconv.Itoa(i))
			}
			p.read(below, inner)
		}
	default:
		for _, path := range at {
			p.Values[fmt.Sprintf("%s=%v", path, content)] = true
		}
	}
}

// Has reports whether any single resource matches want, a string in the form used in Case.Want.
func Has(resources []Resource, want string) bool {
	kind, having, _ := strings.Cut(want, " | ")
	for _, r := range resources {
		if r.Kind != kind {
			continue
		}
		all := true
		for condition := range strings.SplitSeq(having, " | ") {
			path, negated := strings.CutPrefix(condition, "!")
			all = all && (path == "" || r.Values[path] != negated)
		}
		if all {
			return true
		}
	}
	return false
}

// Shown formats the resources for a test's failure message.
func Shown(resources []Resource) []string {
	var list []string
	for _, r := range resources {
		switch r.Kind {
		case "Patient", "Composition", "Provenance":
		default:
			list = append(list, r.JSON)
		}
	}
	return list
}
