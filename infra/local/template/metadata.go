package template

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// standIn replaces the aliases that a template may have. Resources have what the Metadata section anchors as their
// Metadata, so that a waiver of all functions is written once; paths of an API have what another path anchors, since
// one function serves both. Aliases are refused everywhere else. SAM writes them out when it builds, since
// CloudFormation takes none.
func standIn(root *yaml.Node) {
	for _, section := range entries(root) {
		switch section.key {
		case "Metadata":
			for _, e := range entries(section.value) {
				e.value.Anchor = ""
			}
		case "Resources":
			for _, r := range entries(section.value) {
				replace(follow(r.value, "Metadata"))
				for _, path := range entries(follow(r.value, "Properties", "DefinitionBody", "paths")) {
					replace(path.value)
				}
			}
		}
	}
}

// replace puts what an alias stands for in its place, and removes an anchor.
func replace(n *yaml.Node) {
	if n == nil {
		return
	}
	if n.Kind == yaml.AliasNode {
		*n = *n.Alias
	}
	n.Anchor = ""
}

// follow returns the value below some keys, nil if there is none.
func follow(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		i := slices.IndexFunc(entries(n), func(e entry) bool { return e.key == key })
		if i < 0 {
			return nil
		}
		n = entries(n)[i].value
	}
	return n
}

// metadata reads what stands beside a resource's properties: linters' waivers, which .ci/template judges, and for a
// function how SAM builds it.
func metadata(r resource, err *error) {
	if r.metadata == nil {
		return
	}
	o := within(r.metadata, "Metadata.", err, r.line)
	o.ignore("cfn-lint", "checkov")
	if r.kind == kindFunction {
		o.oneOf("BuildMethod", "makefile")
	}
	o.finish()
}
