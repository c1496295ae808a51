// Package clinical compares two sets of a patient's FHIR resources by each fact's type, code, time, value and status.
// The comparison ignores IDs, narratives and order, so equivalent conversions of a document compare as equal,
// regardless of the converter.
package clinical

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Fact holds the content of one resource.
type Fact struct {
	Type string `json:"type"`           // resourceType
	Code string `json:"code,omitempty"` // subject's code as system|code, or its text if there is no code
	Time string `json:"time,omitempty"` // time when the fact applied or occurred

	parts map[string][]string // values of the remaining elements, by path
}

// contextTypes lists resource types that are not facts but that facts refer to for people, locations and provenance.
var contextTypes = []string{
	"Binary", "Composition", "Location", "Medication", "Organization", "Practitioner",
	"PractitionerRole", "Provenance",
}

// Read parses resources, which contains one JSON object per line, and returns their facts in order.
func Read(resources []byte) ([]Fact, error) {
	var all []map[string]any
	known := map[string]map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(resources))
	decoder.UseNumber() // preserves decimal numbers exactly as written
	for {
		var resource map[string]any
		err := decoder.Decode(&resource)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("resource %d is not a JSON object", len(all)+1)
		}
		all = append(all, resource)
		known[text(resource, "resourceType")+"/"+text(resource, "id")] = resource
	}
	var facts []Fact
	for _, resource := range all {
		kind := text(resource, "resourceType")
		if slices.Contains(contextTypes, kind) {
			continue
		}
		parts := map[string][]string{}
		for name, value := range resource {
			if !slices.Contains([]string{"resourceType", "id", "meta", "text", "identifier"}, name) {
				flatten(parts, name, value, known)
			}
		}
		for _, values := range parts {
			slices.Sort(values)
		}
		facts = append(facts, Fact{Type: kind, Code: subject(resource, known), Time: moment(resource), parts: parts})
	}
	slices.SortStableFunc(facts, func(a, b Fact) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Time, b.Time))
	})
	return facts, nil
}

// flatten adds a value to parts under the value's path. It replaces references with labels for their targets, because
// IDs are not part of a fact.
func flatten(parts map[string][]string, path string, value any, known map[string]map[string]any) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			flatten(parts, path+"."+name, value[name], known)
		}
	case []any:
		for _, v := range value {
			flatten(parts, path, v, known)
		}
	default:
		said := fmt.Sprint(value)
		if strings.HasSuffix(path, ".reference") {
			said = label(said, known)
		}
		parts[path] = append(parts[path], said)
	}
}

// label returns a label for a reference's target: the target's type followed by its code, number or name.
func label(reference string, known map[string]map[string]any) string {
	resource, ok := known[reference]
	if !ok {
		return reference
	}
	kind := text(resource, "resourceType")
	if kind == "Patient" {
		return kind
	}
	names := []string{subject(resource, known), number(resource), text(resource, "name"), moment(resource)}
	return strings.TrimSpace(kind + " " + cmp.Or(names...))
}

func number(resource map[string]any) string {
	identifiers, _ := resource["identifier"].([]any)
	for _, i := range identifiers {
		if object, ok := i.(map[string]any); ok {
			return text(object, "system") + "|" + text(object, "value")
		}
	}
	return ""
}

// subject returns the value of the first subject element in resource.
func subject(resource map[string]any, known map[string]map[string]any) string {
	if medication, ok := resource["medicationReference"].(map[string]any); ok {
		if product, ok := known[text(medication, "reference")]; ok {
			return subject(product, known)
		}
	}
	for _, name := range []string{
		"code", "medicationCodeableConcept", "vaccineCode", "relationship", "description",
		"type", "category", "scope",
	} {
		if said := concept(resource[name]); said != "" {
			return said
		}
	}
	return text(resource, "name")
}

// concept returns a CodeableConcept as a string. If value lists several concepts, concept uses only the first.
func concept(value any) string {
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	object, ok := value.(map[string]any)
	if !ok {
		return ""
	}
	codings, _ := object["coding"].([]any)
	for _, c := range codings {
		if coding, ok := c.(map[string]any); ok && text(coding, "code") != "" {
			return text(coding, "system") + "|" + text(coding, "code")
		}
	}
	return text(object, "text")
}

// moment returns the value of the first time element in resource.
func moment(resource map[string]any) string {
	for _, name := range []string{
		"effectiveDateTime", "effectivePeriod", "onsetDateTime", "onsetPeriod", "performedDateTime", "performedPeriod",
		"occurrenceDateTime",
		"occurrencePeriod", "period", "startDate", "authoredOn", "recordedDate", "dateTime", "date",
	} {
		switch value := resource[name].(type) {
		case string:
			return value
		case map[string]any:
			return cmp.Or(text(value, "start"), text(value, "end"))
		}
	}
	return ""
}

func text(object map[string]any, name string) string {
	said, _ := object[name].(string)
	return said
}
