package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// simplify rewrites the schemas so that each has one type: it merges the members of allOf, and removes the keywords
// that only narrow a type.
func (d document) simplify() error {
	for _, schema := range values(get(d.root, "components", "schemas")) {
		if err := d.simplifySchema(schema); err != nil {
			return err
		}
	}
	return d.eachContent(func(media *yaml.Node, _ string) error {
		return d.simplifySchema(get(media, "schema"))
	})
}

// eachContent calls the function for the content of each request and response, with the name that an object declared
// there gets.
func (d document) eachContent(use func(media *yaml.Node, name string) error) error {
	var failed error
	visit := func(holder *yaml.Node, name string) {
		for _, media := range values(orEmpty(get(holder, "content"))) {
			if failed == nil {
				failed = use(media, name)
			}
		}
	}
	d.operations(func(operation *yaml.Node) {
		name := capital(text(operation, "operationId"))
		visit(get(operation, "requestBody"), name+"Request")
		responses := get(operation, "responses")
		for _, status := range keys(responses) {
			suffix := "Result"
			if !strings.HasPrefix(status, "2") {
				suffix = "Failure" + status
			}
			visit(get(responses, status), name+suffix)
		}
	})
	responses := get(d.root, "components", "responses")
	for _, name := range keys(responses) {
		visit(get(responses, name), name+"Response")
	}
	return failed
}

// simplifySchema rewrites a schema and the schemas in it.
func (d document) simplifySchema(schema *yaml.Node) error {
	if schema == nil || schema.Kind != yaml.MappingNode || get(schema, "$ref") != nil {
		return nil
	}
	if err := d.mergeAllOf(schema); err != nil {
		return err
	}
	remove(schema, "not")
	narrow(schema, "anyOf")
	narrow(schema, "oneOf")
	for _, property := range values(orEmpty(get(schema, "properties"))) {
		if err := d.simplifySchema(property); err != nil {
			return err
		}
	}
	if others := get(schema, "additionalProperties"); others != nil {
		if err := d.simplifySchema(others); err != nil {
			return err
		}
	}
	return d.simplifySchema(get(schema, "items"))
}

func orEmpty(mappingOrNil *yaml.Node) *yaml.Node {
	if mappingOrNil == nil {
		return mapping()
	}
	return mappingOrNil
}

// narrow removes a keyword whose alternatives add no type to the schema. Alternatives that are all strings become a
// string. Alternatives that are all references remain, as variants.
func narrow(schema *yaml.Node, keyword string) {
	alternatives := get(schema, keyword)
	if alternatives == nil {
		return
	}
	variants := !slices.ContainsFunc(alternatives.Content, func(a *yaml.Node) bool { return get(a, "$ref") == nil })
	if variants && keyword == "oneOf" {
		return
	}
	remove(schema, keyword)
	if text(schema, "type") == "" {
		set(schema, "type", scalar("string"))
	}
}

// mergeAllOf replaces a schema's allOf by the union of its members. If the other members only narrow a referenced
// schema, the schema becomes that reference.
func (d document) mergeAllOf(schema *yaml.Node) error {
	all := get(schema, "allOf")
	if all == nil {
		return nil
	}
	first := all.Content[0]
	if get(first, "$ref") != nil && !slices.ContainsFunc(all.Content[1:], d.adds(first)) && !d.adds(first)(schema) {
		schema.Content = clone(first).Content
		return nil
	}
	remove(schema, "allOf")
	merged := mapping()
	for _, member := range append(slices.Clone(all.Content), clone(schema)) {
		resolved, err := d.resolve(member)
		if err != nil {
			return err
		}
		resolved = clone(resolved)
		if err = d.mergeAllOf(resolved); err != nil {
			return err
		}
		if to := text(resolved, "$ref"); to != "" {
			if resolved, err = d.resolve(resolved); err != nil {
				return err
			}
			resolved = clone(resolved)
		}
		merge(merged, resolved)
	}
	schema.Content = merged.Content
	return nil
}

// adds returns a function that reports whether a schema has members that the base lacks.
func (d document) adds(base *yaml.Node) func(schema *yaml.Node) bool {
	resolved, err := d.resolve(base)
	return func(schema *yaml.Node) bool {
		if get(schema, "$ref") != nil {
			return true
		}
		known := keys(get(resolved, "properties"))
		properties := get(schema, "properties")
		return err != nil || slices.ContainsFunc(keys(properties), func(name string) bool {
			return !slices.Contains(known, name) || get(properties, name, "enum") == nil
		})
	}
}

// resolve follows a reference to a component.
func (d document) resolve(schema *yaml.Node) (*yaml.Node, error) {
	for {
		to := text(schema, "$ref")
		if to == "" {
			return schema, nil
		}
		if schema = get(d.root, strings.Split(strings.TrimPrefix(to, "#/"), "/")...); schema == nil {
			return nil, fmt.Errorf("%s doesn't exist", to)
		}
	}
}

// merge adds a schema's keywords to another schema. Properties with the same name are merged, and lists are joined.
func merge(into, schema *yaml.Node) {
	for _, key := range keys(schema) {
		value, present := get(schema, key), get(into, key)
		switch {
		case present == nil:
			set(into, key, value)
		case key == "required":
			present.Content = union(present.Content, value.Content)
		case present.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode && get(present, "$ref") == nil:
			merge(present, value)
		default:
			set(into, key, value)
		}
	}
}

func union(names, more []*yaml.Node) []*yaml.Node {
	for _, name := range more {
		if !slices.ContainsFunc(names, func(known *yaml.Node) bool { return known.Value == name.Value }) {
			names = append(names, name)
		}
	}
	return names
}

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
