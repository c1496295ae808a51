package template

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is a template split into sections. Intrinsic functions are in long form and unresolved.
type document struct {
	parameters []entry
	conditions map[string]*yaml.Node
	globals    map[string]*yaml.Node // globals by resource type, "Function" or "Api"
	resources  []resource
	outputs    []entry
}

type resource struct {
	id, kind   string
	line       int
	condition  *yaml.Node // nil means unconditional
	properties *yaml.Node // nil if absent
	metadata   *yaml.Node // nil if absent
}

// serverless is the transform that converts SAM resources to CloudFormation resources.
const serverless = "AWS::Serverless-2016-10-31"

// parse splits text into sections. The template's Transform must equal transform, which is empty for a template that
// SAM has already transformed.
func parse(text []byte, transform string) (*document, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	if len(file.Content) == 0 || file.Content[0].Kind != yaml.MappingNode {
		return nil, refuse(1, "a template is a mapping with a Resources section")
	}
	standIn(file.Content[0])
	root, err := longForm(file.Content[0])
	if err != nil {
		return nil, err
	}
	o := read(root, 1)
	o.ignore("AWSTemplateFormatVersion", "Description", "Metadata")
	d := &document{conditions: map[string]*yaml.Node{}, globals: map[string]*yaml.Node{}}
	if got := o.text("Transform"); got != transform {
		o.failf(root.Line, "the Transform %q is not understood", got)
	}
	d.parameters = entries(o.mapping("Parameters"))
	d.outputs = entries(o.mapping("Outputs"))
	for _, e := range entries(o.mapping("Conditions")) {
		d.conditions[e.key] = e.value
	}
	globals := o.object("Globals")
	for _, kind := range []string{"Function", "Api"} {
		d.globals[kind] = globals.mapping(kind)
	}
	globals.finish()
	resources := entries(o.mapping("Resources"))
	if err := o.end(); err != nil {
		return nil, err
	}
	for _, e := range resources {
		r, err := readResource(e, transform == "")
		if err != nil {
			return nil, in(e.key, err)
		}
		d.resources = append(d.resources, r)
	}
	return d, nil
}

// readResource reads a resource without resolving its Properties.
func readResource(e entry, transformed bool) (resource, error) {
	o := read(e.value, e.line)
	if transformed {
		o.ignore("DependsOn", "UpdatePolicy") // added by SAM; affects only the order of CloudFormation's operations
	}
	// DeletionPolicy and UpdateReplacePolicy protect data when a stack changes or is deleted. A local stack's data
	// exists until its directory is deleted.
	o.ignore("DeletionPolicy", "UpdateReplacePolicy")
	r := resource{id: e.key, line: e.line, kind: o.required("Type"), condition: o.take("Condition")}
	r.properties = o.mapping("Properties")
	r.metadata = o.mapping("Metadata")
	return r, o.end()
}

// longForm returns a copy of n with every intrinsic function in long form ({"Fn::Sub": ...}). It rejects unsupported
// YAML features anywhere in the file.
func longForm(n *yaml.Node) (*yaml.Node, error) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return nil, refuse(n.Line, "YAML anchors and aliases are understood only as Metadata")
	}
	out := *n
	out.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c, err := longForm(child)
		if err != nil {
			return nil, err
		}
		out.Content[i] = c
	}
	if n.Kind == yaml.MappingNode {
		if err := checkKeys(n); err != nil {
			return nil, err
		}
	}
	tag, short := strings.CutPrefix(n.Tag, "!")
	if !short || strings.HasPrefix(tag, "!") {
		return &out, nil
	}
	name := tag
	if tag != "Ref" && tag != "Condition" {
		name = "Fn::" + tag
	}
	if !understoodFunction(name) {
		return nil, refuse(n.Line, "the function !%s is not understood", tag)
	}
	out.Tag = "" // the key below replaces the YAML tag
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: n.Line}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Content: []*yaml.Node{key, &out}}, nil
}

// checkKeys rejects duplicate keys and unknown intrinsic functions in long form. YAML parsers silently keep only one of
// a duplicate key's values.
func checkKeys(n *yaml.Node) error {
	seen := map[string]bool{}
	for _, e := range entries(n) {
		if seen[e.key] {
			return refuse(e.line, "%q is given twice", e.key)
		}
		seen[e.key] = true
		if strings.HasPrefix(e.key, "Fn::") && (!understoodFunction(e.key) || len(n.Content) != 2) {
			return refuse(e.line, "the function %s is not understood here", e.key)
		}
	}
	return nil
}

func understoodFunction(name string) bool {
	switch name {
	case "Ref", "Condition", "Fn::GetAtt", "Fn::Sub", "Fn::Join", "Fn::If", "Fn::Equals", "Fn::Not", "Fn::And", "Fn::Or":
		return true
	}
	return false
}

// function returns an intrinsic function's name and argument. The name is empty if n is not an intrinsic function.
func function(n *yaml.Node) (name string, argument *yaml.Node) {
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 {
		return "", nil
	}
	key := n.Content[0].Value
	if key == "Ref" || strings.HasPrefix(key, "Fn::") {
		return key, n.Content[1]
	}
	return "", nil
}
