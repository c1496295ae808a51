package template

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// withGlobals merges the Globals for a resource type into a resource's properties.
func withGlobals(globals map[string]*yaml.Node, kind string, properties *yaml.Node) *yaml.Node {
	short, serverless := strings.CutPrefix(kind, "AWS::Serverless::")
	global := globals[short]
	if !serverless || global == nil {
		return properties
	}
	if properties == nil {
		return global
	}
	return merge(global, properties)
}

// merge merges Globals into a resource's properties as SAM does. Mappings are merged key by key, and lists are appended
// to the global lists. Any other value, including an intrinsic function, replaces the global value (AWS SAM developer
// guide, sam-specification-template-anatomy-globals.html).
func merge(global, own *yaml.Node) *yaml.Node {
	globalFunction, _ := function(global)
	ownFunction, _ := function(own)
	if global.Kind != own.Kind || globalFunction != "" || ownFunction != "" {
		return own
	}
	out := *own
	switch own.Kind {
	case yaml.SequenceNode:
		out.Content = slices.Concat(global.Content, own.Content)
		return &out
	case yaml.MappingNode:
		out.Content = slices.Clone(own.Content)
		for i := 0; i+1 < len(global.Content); i += 2 {
			at := indexOfKey(&out, global.Content[i].Value)
			if at < 0 {
				out.Content = append(out.Content, global.Content[i], global.Content[i+1])
			} else {
				out.Content[at+1] = merge(global.Content[i+1], out.Content[at+1])
			}
		}
		return &out
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
	return own
}

// indexOfKey returns the index of a key in a mapping node's contents, or -1 if the key is missing.
func indexOfKey(n *yaml.Node, key string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}
