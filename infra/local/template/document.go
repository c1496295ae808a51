package template

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is a template cut into its sections, intrinsic functions in their long form and not yet resolved.
type document struct {
	parameters []entry
	conditions map[string]*yaml.Node
	globals    map[string]*yaml.Node // "Function" and "Api"
	resources  []resource
	outputs    []entry
}

// resource is one entry of the Resources section.
type resource struct {
	id, kind   string
	line       int
	condition  *yaml.Node // nil: always there
	properties *yaml.Node // nil: none
	metadata   *yaml.Node // nil: none
}

// serverless is the transform that makes CloudFormation's resources of SAM's.
const serverless = "AWS::Serverless-2016-10-31"

// parse cuts text into sections; transform is what is still to be done with it.
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

// readResource reads the attributes of a resource beside its Properties.
func readResource(e entry, transformed bool) (resource, error) {
	o := read(e.value, e.line)
	if transformed {
		o.ignore("DependsOn", "UpdatePolicy") // when CloudFormation does what; SAM writes them
	}
	// They tell what happens to data when a stack changes or goes; on a laptop a person deletes the data folder.
	o.ignore("DeletionPolicy", "UpdateReplacePolicy")
	r := resource{id: e.key, line: e.line, kind: o.required("Type"), condition: o.take("Condition")}
	r.properties = o.mapping("Properties")
	r.metadata = o.mapping("Metadata")
	return r, o.end()
}

// longForm copies a node with every intrinsic function in its long form ({"Fn::Sub": ...}), and refuses what YAML
// allows but this package does not understand, wherever in the file it stands.
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
	out.Tag = "" // plain; nothing here asks for it again
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: n.Line}
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Content: []*yaml.Node{key, &out}}, nil
}

// checkKeys refuses a key given twice, of which YAML readers silently take one, and unknown functions in long form.
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

// understoodFunction tells whether the resolver or the conditions know an intrinsic function by its long name.
func understoodFunction(name string) bool {
	switch name {
	case "Ref", "Condition", "Fn::GetAtt", "Fn::Sub", "Fn::Join", "Fn::If", "Fn::Equals", "Fn::Not", "Fn::And", "Fn::Or":
		return true
	}
	return false
}

// function gives the name and argument of an intrinsic function, or an empty name when n is none.
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
