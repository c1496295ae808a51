package main

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// part is one of the documents: its file name without extension, its title, and the operations that it describes.
type part struct {
	name, title string
	includes    func(operation *yaml.Node) bool
}

// parts returns the documents. An operation belongs to exactly one of them, except for the sandbox's operations and
// those that serve pages and files, which belong to none.
func parts() []part {
	return []part{
		{"backend", "Recordbridge API for backends", isForBackend},
		{"widget", "Recordbridge API for the widget's pages", isForWidget},
		{"dashboard", "Recordbridge API for the dashboard", func(o *yaml.Node) bool { return hasTag(o, "dashboard") }},
	}
}

// isForBackend reports whether a backend calls the operation: it requires the private key, or serves machines that have
// no credential.
func isForBackend(operation *yaml.Node) bool {
	if hasTag(operation, "keys") || hasTag(operation, "health") {
		return true
	}
	security := get(operation, "security")
	return security != nil && slices.ContainsFunc(security.Content, func(scheme *yaml.Node) bool {
		return get(scheme, "basic") != nil
	})
}

func isForWidget(operation *yaml.Node) bool {
	return !isForBackend(operation) && !slices.ContainsFunc([]string{"dashboard", "sandbox", "widget"},
		func(tag string) bool { return hasTag(operation, tag) })
}

func hasTag(operation *yaml.Node, tag string) bool {
	tags := get(operation, "tags")
	return tags != nil && slices.ContainsFunc(tags.Content, func(n *yaml.Node) bool { return n.Value == tag })
}

const schemasPrefix = "#/components/schemas/"

// document is an OpenAPI document that is being reduced to a part.
type document struct {
	root *yaml.Node
}

var methods = []string{"get", "post", "put", "patch", "delete"}

// operations calls the function for each operation.
func (d document) operations(use func(operation *yaml.Node)) {
	for _, item := range values(get(d.root, "paths")) {
		for _, method := range methods {
			if operation := get(item, method); operation != nil {
				use(operation)
			}
		}
	}
}

// keep removes the operations that don't belong to the part, with their tags, links and internal extensions.
func (d document) keep(p part) {
	d.root.HeadComment = "Generated from openapi.yaml by infra/apiparts."
	set(get(d.root, "info"), "title", scalar(p.title))
	paths, used := get(d.root, "paths"), map[string]bool{}
	for _, item := range values(paths) {
		keepKeys(item, func(key string) bool {
			return !slices.Contains(methods, key) || p.includes(get(item, key))
		})
	}
	keepKeys(paths, func(path string) bool {
		return slices.ContainsFunc(methods, func(method string) bool { return get(paths, path, method) != nil })
	})
	d.operations(func(operation *yaml.Node) {
		keepKeys(operation, func(key string) bool { return !strings.HasPrefix(key, "x-") })
		for _, tag := range get(operation, "tags").Content {
			used[tag.Value] = true
		}
		for _, response := range values(get(operation, "responses")) {
			if response.Kind == yaml.MappingNode {
				remove(response, "links")
			}
		}
	})
	tags := get(d.root, "tags")
	tags.Content = slices.DeleteFunc(tags.Content, func(tag *yaml.Node) bool { return !used[text(tag, "name")] })
	remove(get(d.root, "components"), "links")
}

// prune removes the components that nothing refers to.
func (d document) prune() {
	used, components := map[string]bool{}, get(d.root, "components")
	var visit func(node *yaml.Node)
	visit = func(node *yaml.Node) {
		if to := text(node, "$ref"); to != "" && !used[to] {
			used[to] = true
			visit(get(d.root, strings.Split(strings.TrimPrefix(to, "#/"), "/")...))
		}
		for _, child := range node.Content {
			visit(child)
		}
	}
	visit(get(d.root, "paths"))
	d.operations(func(operation *yaml.Node) {
		for _, scheme := range get(operation, "security").Content {
			for _, name := range keys(scheme) {
				used["#/components/securitySchemes/"+name] = true
			}
		}
	})
	for _, kind := range keys(components) {
		keepKeys(get(components, kind), func(name string) bool { return used["#/components/"+kind+"/"+name] })
	}
	keepKeys(components, func(kind string) bool { return len(get(components, kind).Content) > 0 })
}
