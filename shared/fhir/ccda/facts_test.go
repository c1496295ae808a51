package ccda_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"recordbridge/shared/fhir/ccda"
)

// factCase is an entry of a section and what has to come of it. Each line of want is one resource: its type and what it
// has to have, as paths with their values; "!path" is one that it must not have. A number in a path says which element
// of a list.
type factCase struct {
	name    string
	section string // LOINC code, or a whole <section> without its end
	entries string
	want    []string
	never   []string // resources that must not be there, in the same form
}

func (f factCase) check(t *testing.T) {
	t.Helper()
	resources := entryFacts(t, f.section, f.entries)
	for _, want := range f.want {
		if !isThere(resources, want) {
			t.Errorf("there is no %s in\n%s", want, strings.Join(shown(resources), "\n"))
		}
	}
	for _, never := range f.never {
		if isThere(resources, never) {
			t.Errorf("there is a %s in\n%s", never, strings.Join(shown(resources), "\n"))
		}
	}
}

func runFacts(t *testing.T, cases []factCase) {
	t.Helper()
	for _, f := range cases {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.check(t)
		})
	}
}

// paths is a resource as its paths, with the indexes of lists and without them.
type paths struct {
	kind   string
	values map[string]bool // "path=value", and every path alone
	json   string
}

// entryFacts converts a document of one section.
func entryFacts(t *testing.T, section, entries string) []paths {
	t.Helper()
	if !strings.HasPrefix(section, "<") {
		section = `<section><code code="` + section + `" codeSystem="2.16.840.1.113883.6.1"/>`
	}
	document := `<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:sdtc="urn:hl7-org:sdtc" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<id root="2.16.840.1.113883.19.9" extension="doc"/><effectiveTime value="20200102030405+0000"/>
<recordTarget><patientRole><id root="2.16.840.1.113883.19.1" extension="p"/></patientRole></recordTarget>
<componentOf><encompassingEncounter><id root="2.16.840.1.113883.19.3" extension="visit"/><effectiveTime><low value="20200101"/></effectiveTime></encompassingEncounter></componentOf>
<component><structuredBody><component>` + section + entries + `</section></component></structuredBody></component></ClinicalDocument>`
	var all []paths
	_, err := ccda.Convert([]byte(document), func(r ccda.Resource) error {
		var content any
		p := paths{kind: r.Type, values: map[string]bool{}, json: string(r.JSON)}
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

// read notes a value under all its paths.
func (p paths) read(at []string, content any) {
	for _, path := range at {
		p.values[path] = true
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
			p.values[fmt.Sprintf("%s=%v", path, content)] = true
		}
	}
}

func isThere(resources []paths, want string) bool {
	kind, having, _ := strings.Cut(want, " | ")
	for _, r := range resources {
		if r.kind != kind {
			continue
		}
		all := true
		for condition := range strings.SplitSeq(having, " | ") {
			path, negated := strings.CutPrefix(condition, "!")
			all = all && (path == "" || r.values[path] != negated)
		}
		if all {
			return true
		}
	}
	return false
}

func shown(resources []paths) []string {
	var list []string
	for _, r := range resources {
		switch r.kind {
		case "Patient", "Composition", "Provenance":
		default:
			list = append(list, r.json)
		}
	}
	return list
}
