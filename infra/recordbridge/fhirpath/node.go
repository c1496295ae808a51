package fhirpath

import (
	"encoding/json"
	"slices"
	"strings"

	"recordbridge/shared/fhir"
)

// Node is an element of a resource, or a literal.
type Node struct {
	// Value is a string, bool, json.Number or map[string]any. Value is nil if the element has only extensions.
	Value any
	// Type is the FHIR type of a choice element, constant or literal. Type is empty for other elements.
	Type string

	extra map[string]any // the element's sibling with an underscore, which holds a primitive's extensions
}

// choices contains the types of R4's choice elements, as they end an element's JSON name (R4, 2.1.0.4).
var choices = map[string]string{
	"Base64Binary": "base64Binary", "Boolean": "boolean", "Canonical": "canonical", "Code": "code", "Date": "date",
	"DateTime": "dateTime", "Decimal": "decimal", "Id": "id", "Instant": "instant", "Integer": "integer",
	"Integer64": "integer64", "Markdown": "markdown", "Oid": "oid", "PositiveInt": "positiveInt", "String": "string",
	"Time": "time", "UnsignedInt": "unsignedInt", "Uri": "uri", "Url": "url", "Uuid": "uuid",
	"Address": "Address", "Age": "Age", "Annotation": "Annotation", "Attachment": "Attachment",
	"CodeableConcept": "CodeableConcept", "CodeableReference": "CodeableReference", "Coding": "Coding",
	"ContactDetail": "ContactDetail", "ContactPoint": "ContactPoint", "Contributor": "Contributor", "Count": "Count",
	"DataRequirement": "DataRequirement", "Distance": "Distance", "Dosage": "Dosage", "Duration": "Duration",
	"Expression": "Expression", "HumanName": "HumanName", "Identifier": "Identifier", "Meta": "Meta", "Money": "Money",
	"ParameterDefinition": "ParameterDefinition", "Period": "Period", "Quantity": "Quantity", "Range": "Range",
	"Ratio": "Ratio", "RatioRange": "RatioRange", "Reference": "Reference", "RelatedArtifact": "RelatedArtifact",
	"SampledData": "SampledData", "Signature": "Signature", "Timing": "Timing",
	"TriggerDefinition": "TriggerDefinition", "UsageContext": "UsageContext",
}

// child returns the elements of n with the name, in order. The name of a choice element, such as value[x], is
// value without a type.
func (n Node) child(name string) []Node {
	object, ok := n.Value.(map[string]any)
	if !ok {
		object = n.extra
	}
	if value, ok := object[name]; ok {
		return spread(value, object["_"+name], "")
	}
	if extra, ok := object["_"+name]; ok {
		return spread(nil, extra, "")
	}
	if key, kind := choice(object, name); key != "" {
		return spread(object[key], object["_"+key], kind)
	}
	return nil
}

// size returns the steps for a search among the node's members.
func (n Node) size() int {
	object, _ := n.Value.(map[string]any)
	return len(object) / 64
}

// choice returns the JSON name and the type of a choice element. A resource has at most one of each choice.
func choice(object map[string]any, name string) (key, kind string) {
	for candidate := range object {
		candidate = strings.TrimPrefix(candidate, "_")
		suffix, ok := strings.CutPrefix(candidate, name)
		if !ok || choices[suffix] == "" {
			continue
		}
		if key == "" || candidate < key { // the same one in every run
			key, kind = candidate, choices[suffix]
		}
	}
	return key, kind
}

// spread returns a node for each entry of an element that may repeat.
func spread(value, extra any, kind string) []Node {
	values, repeats := value.([]any)
	extras, repeated := extra.([]any)
	if !repeats && !repeated {
		return present(nil, value, extra, kind)
	}
	nodes := make([]Node, 0, max(len(values), len(extras)))
	for i := range max(len(values), len(extras)) {
		var v, e any
		if i < len(values) {
			v = values[i]
		}
		if i < len(extras) {
			e = extras[i]
		}
		nodes = present(nodes, v, e, kind)
	}
	return nodes
}

// present appends a node unless it has neither a value nor extensions. FHIR doesn't nest arrays, so a nested array
// isn't an element.
func present(nodes []Node, value, extra any, kind string) []Node {
	more, _ := extra.(map[string]any)
	if _, nested := value.([]any); nested || value == nil && more == nil {
		return nodes
	}
	return append(nodes, Node{Value: value, Type: kind, extra: more})
}

// is reports whether the node has the type. known is false if the node's type can't be determined.
func (n Node) is(kind string) (is, known bool) {
	if n.Type != "" {
		return n.Type == kind, true
	}
	if object, ok := n.Value.(map[string]any); ok {
		if resource, ok := object["resourceType"].(string); ok {
			return resource == kind, true
		}
	}
	return false, false
}

// typeName returns the FHIR type that a type specifier names. FHIRPath's own names (Time) stand for the FHIR types.
// known is false if FHIR has no such type.
func typeName(name string) (kind string, known bool) {
	if name == "" {
		return "", false
	}
	if kind, ok := choices[strings.ToUpper(name[:1])+name[1:]]; ok {
		return kind, true
	}
	return name, fhir.TypeName(name) != fhir.AnyType
}

// Literal returns the node of a constant with the value and the FHIR type.
func Literal(value any, kind string) Node { return Node{Value: value, Type: kind, extra: nil} }

// Resource returns the node of a resource that encoding/json decoded with UseNumber.
func Resource(object map[string]any) Node { return Node{Value: object, Type: "", extra: nil} }

func (n Node) temporal() bool {
	return slices.Contains([]string{"date", "dateTime", "instant", "time"}, n.Type)
}

func boolean(b bool) []Node { return []Node{Literal(b, "boolean")} }

func number(text, kind string) []Node { return []Node{Literal(json.Number(text), kind)} }
