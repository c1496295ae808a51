package template

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// standIn expands the supported YAML aliases and rejects all others. A resource's Metadata may refer to an anchor in
// the Metadata section, so that a waiver that applies to all functions is written only once. An API path may be an
// alias of another path's YAML anchor, so one function can serve both paths. SAM expands YAML aliases during its build,
// because CloudFormation does not accept them.
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

func replace(n *yaml.Node) {
	if n == nil {
		return
	}
	if n.Kind == yaml.AliasNode {
		*n = *n.Alias
	}
	n.Anchor = ""
}

// follow returns the value at a path of keys, or nil if the path does not exist.
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

// metadata reads a resource's Metadata, which contains linter waivers (checked by .ci/template) and a function's SAM
// build settings.
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
