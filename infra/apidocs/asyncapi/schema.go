package asyncapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// schemas are the JSON Schemas (draft 7, as AsyncAPI 3.1 has them) of Go types, by the types' names. Members that are not
// described are allowed: there will be more.
type schemas struct {
	glossary glossary
	made     object
}

// field is one member of a JSON object, as encoding/json sees it.
type field struct {
	name     string
	optional bool
	tefca    string // the tag, see shared/webhook/payload.go
	kind     reflect.Type
}

// of returns a reference to the schema of a struct type, which is made when it is not there yet.
func (s *schemas) of(t reflect.Type) (object, error) {
	reference := object{{"$ref", "#/components/schemas/" + t.Name()}}
	if s.made.has(t.Name()) {
		return reference, nil
	}
	var required words
	var properties object
	fields := fieldsOf(t)
	for _, f := range fields {
		if !f.optional {
			required = append(required, f.name)
		}
		described, err := s.property(t, f)
		if err != nil {
			return nil, err
		}
		properties = properties.with(f.name, described)
	}
	s.made = s.made.with(t.Name(), slices.Concat(
		object{{"type", "object"}, {"required", required}, {"properties", properties}}, tefca(fields),
	))
	return reference, nil
}

// property is the schema of one member: of its Go type, and of what the glossary says.
func (s *schemas) property(owner reflect.Type, f field) (object, error) {
	said, err := s.glossary.of(owner.Name(), f.name)
	if err != nil {
		return nil, err
	}
	kind, err := s.kind(f.kind)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", owner.Name(), f.name, err)
	}
	if kind[0].name == "$ref" { // nothing beside it counts (JSON Schema draft 7 section 8.3)
		kind = object{{"allOf", []object{kind}}}
	}
	described := object{{"description", said.doc}}
	for _, rule := range kind {
		if !said.rules.has(rule.name) {
			described = append(described, rule)
		}
	}
	return append(described, said.rules...), nil
}

func (s *schemas) kind(t reflect.Type) (object, error) {
	switch t.Kind() { //nolint:exhaustive // what payloads are made of
	case reflect.String:
		return object{{"type", "string"}}, nil
	case reflect.Bool:
		return object{{"type", "boolean"}}, nil
	case reflect.Int, reflect.Int64:
		return object{{"type", "integer"}, {"minimum", 0}}, nil
	case reflect.Pointer:
		return s.kind(t.Elem())
	case reflect.Struct:
		return s.of(t)
	case reflect.Slice:
		items, err := s.kind(t.Elem())
		return object{{"type", "array"}, {"items", items}}, err
	case reflect.Map:
		values, err := s.kind(t.Elem())
		return object{{"type", "object"}, {"additionalProperties", values}}, err
	default:
		return nil, fmt.Errorf("no schema for %s", t)
	}
}

// fieldsOf lists the members of a struct, those of embedded ones in their place.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		fields = append(fields, field{
			name: name, optional: strings.Contains(options, "omitempty"), tefca: f.Tag.Get("tefca"), kind: f.Type,
		})
	}
	return fields
}

// tefca is what the tags say about TEFCA mode, as a condition.
func tefca(fields []field) object {
	var inside, outside words
	var values object
	for _, f := range fields {
		rule, value, isFixed := strings.Cut(f.tefca, ",")
		switch rule {
		case "omit":
			outside = append(outside, f.name)
		case "require":
			inside = append(inside, f.name)
		}
		if isFixed {
			values = values.with(f.name, object{{"const", value}})
		}
	}
	if len(inside)+len(outside) == 0 {
		return nil
	}
	condition := object{{"if", object{{"properties", object{{"platform_type", object{{"const", "tefca"}}}}}}}}
	if len(inside) > 0 {
		condition = condition.with("then", object{{"required", inside}, {"properties", values}})
	}
	return condition.with("else", object{{"required", outside}})
}
