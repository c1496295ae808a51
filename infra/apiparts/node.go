package main

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// get returns the value of a mapping's key, or nil if the node isn't a mapping or lacks the key.
func get(node *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		if node == nil || node.Kind != yaml.MappingNode {
			return nil
		}
		at := keyAt(node, key)
		if at < 0 {
			return nil
		}
		node = node.Content[at+1]
	}
	return node
}

func keyAt(mapping *yaml.Node, key string) int {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// text returns the scalar value of a mapping's key, or "".
func text(node *yaml.Node, path ...string) string {
	if found := get(node, path...); found != nil && found.Kind == yaml.ScalarNode {
		return found.Value
	}
	return ""
}

// set replaces the value of a mapping's key, or appends the key.
func set(mapping *yaml.Node, key string, value *yaml.Node) {
	if at := keyAt(mapping, key); at >= 0 {
		mapping.Content[at+1] = value
		return
	}
	mapping.Content = append(mapping.Content, scalar(key), value)
}

// remove deletes keys from a mapping.
func remove(mapping *yaml.Node, keys ...string) {
	keepKeys(mapping, func(key string) bool { return !slices.Contains(keys, key) })
}

// keepKeys deletes those keys of a mapping that the function rejects.
func keepKeys(mapping *yaml.Node, accept func(key string) bool) {
	kept := mapping.Content[:0]
	for i := 0; i < len(mapping.Content); i += 2 {
		if accept(mapping.Content[i].Value) {
			kept = append(kept, mapping.Content[i], mapping.Content[i+1])
		}
	}
	mapping.Content = kept
}

// keys returns a mapping's keys in order. It returns nil for any other node.
func keys(mapping *yaml.Node) []string {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	all := make([]string, 0, len(mapping.Content)/2)
	for i := 0; i < len(mapping.Content); i += 2 {
		all = append(all, mapping.Content[i].Value)
	}
	return all
}

func values(mapping *yaml.Node) []*yaml.Node {
	all := make([]*yaml.Node, 0, len(mapping.Content)/2)
	for i := 1; i < len(mapping.Content); i += 2 {
		all = append(all, mapping.Content[i])
	}
	return all
}

func scalar(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }

func mapping(pairs ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: pairs}
}

// reference returns a reference to a component schema.
func reference(schema string) *yaml.Node {
	to := scalar(schemasPrefix + schema)
	to.Style = yaml.DoubleQuotedStyle
	return mapping(scalar("$ref"), to)
}

// clone returns a deep copy of a node.
func clone(node *yaml.Node) *yaml.Node {
	if node == nil {
		return nil
	}
	made := *node
	made.Content = make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		made.Content[i] = clone(child)
	}
	return &made
}
