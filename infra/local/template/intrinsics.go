package template

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// placeholder matches ${Name}, ${Resource.Attribute} and the escaped ${!Literal} in Fn::Sub.
var placeholder = regexp.MustCompile(`\$\{([^{}]*)\}`)

// resolver replaces nodes that contain intrinsic functions with plain nodes. For an Fn::If, only the chosen branch is
// resolved, because the other branch may refer to resources that its condition excludes.
type resolver struct {
	stack, baseURL string
	parameters     map[string]*yaml.Node // including pseudo parameters
	conditions     map[string]*yaml.Node // not yet evaluated
	decided        map[string]bool
	resources      map[string]string // resource types by logical ID; empty while resource conditions are evaluated
	chosen         map[string]string // physical names that the template sets, by logical ID
}

// resolve returns a copy of n in which every intrinsic function is replaced by its value. A nil result represents
// AWS::NoValue, which removes the property.
func (r *resolver) resolve(n *yaml.Node) (*yaml.Node, error) {
	if name, argument := function(n); name != "" {
		return r.call(name, argument)
	}
	if n.Kind == yaml.ScalarNode {
		return n, nil
	}
	out := *n
	out.Content = nil
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2 // skip mapping keys, because only values are resolved
	}
	for i := 0; i < len(n.Content); i += step {
		value, err := r.resolve(n.Content[i+step-1])
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		if step == 2 {
			out.Content = append(out.Content, n.Content[i])
		}
		out.Content = append(out.Content, value)
	}
	return &out, nil
}

func (r *resolver) text(n *yaml.Node) (string, error) {
	v, err := r.resolve(n)
	if err != nil {
		return "", err
	}
	if v == nil || v.Kind != yaml.ScalarNode {
		return "", refuse(n.Line, "a text is wanted here")
	}
	return v.Value, nil
}

func (r *resolver) call(name string, argument *yaml.Node) (*yaml.Node, error) {
	switch name {
	case "Ref":
		return r.ref(argument)
	case "Fn::GetAtt":
		return r.getAtt(argument)
	case "Fn::Sub":
		return r.sub(argument)
	case "Fn::Join":
		return r.join(argument)
	case "Fn::If":
		return r.choose(argument)
	}
	return nil, refuse(argument.Line, "%s has no meaning outside Conditions", name)
}

// ref evaluates a reference, written as Ref or as ${Name}.
func (r *resolver) ref(n *yaml.Node) (*yaml.Node, error) {
	if n.Kind != yaml.ScalarNode {
		return nil, refuse(n.Line, "Ref takes a name")
	}
	if n.Value == "AWS::NoValue" {
		return nil, nil
	}
	if v, ok := r.parameters[n.Value]; ok {
		at := *v
		at.Line = n.Line // report errors about a value at the line that uses it
		return &at, nil
	}
	if strings.HasSuffix(n.Value, ".Stage") {
		return r.getAtt(n) // resolves to the name of a stage that SAM creates for an API
	}
	kind, ok := r.resources[n.Value]
	if !ok {
		return nil, refuse(n.Line, "Ref to %s, which is not in the template or left out by its Condition", n.Value)
	}
	v, ok := r.reference(kind, n.Value)
	if !ok {
		return nil, refuse(n.Line, "Ref to %s is not understood: a %s has no name here", n.Value, kind)
	}
	return scalar(v, n.Line), nil
}

// getAtt evaluates Fn::GetAtt: [Resource, Attribute] or "Resource.Attribute".
func (r *resolver) getAtt(n *yaml.Node) (*yaml.Node, error) {
	var id, name string
	switch {
	case n.Kind == yaml.ScalarNode:
		id, name, _ = strings.Cut(n.Value, ".")
	case n.Kind == yaml.SequenceNode && len(n.Content) == 2:
		id, name = n.Content[0].Value, n.Content[1].Value
	}
	if id == "" || name == "" {
		return nil, refuse(n.Line, "Fn::GetAtt takes a resource and an attribute")
	}
	kind, ok := r.resources[id]
	if !ok {
		return nil, refuse(n.Line, "GetAtt of %s, which is not in the template or left out by its Condition", id)
	}
	v, ok := r.attribute(kind, id, name)
	if !ok {
		return nil, refuse(n.Line, "GetAtt %s.%s: this attribute of a %s is not understood", id, name, kind)
	}
	return scalar(v, n.Line), nil
}

// sub evaluates Fn::Sub with a string argument.
func (r *resolver) sub(n *yaml.Node) (*yaml.Node, error) {
	if n.Kind != yaml.ScalarNode {
		return nil, refuse(n.Line, "Fn::Sub takes a text; names of its own are not understood")
	}
	var result strings.Builder
	rest := n.Value
	for {
		at := placeholder.FindStringSubmatchIndex(rest)
		if at == nil {
			result.WriteString(rest)
			return scalar(result.String(), n.Line), nil
		}
		v, err := r.placeholder(scalar(rest[at[2]:at[3]], n.Line))
		if err != nil {
			return nil, err
		}
		result.WriteString(rest[:at[0]] + v)
		rest = rest[at[1]:]
	}
}

// placeholder resolves the name in a ${name} placeholder.
func (r *resolver) placeholder(name *yaml.Node) (string, error) {
	if literal, ok := strings.CutPrefix(name.Value, "!"); ok {
		return "${" + literal + "}", nil
	}
	lookUp := r.ref
	if strings.Contains(name.Value, ".") {
		lookUp = r.getAtt
	}
	v, err := lookUp(name)
	if err != nil {
		return "", err
	}
	if v == nil || v.Kind != yaml.ScalarNode {
		return "", refuse(name.Line, "${%s} is a list and cannot stand in a text", name.Value)
	}
	return v.Value, nil
}

// join evaluates Fn::Join: [delimiter, list].
func (r *resolver) join(n *yaml.Node) (*yaml.Node, error) {
	delimiter, list, err := r.pair(n, "Fn::Join takes a list of a delimiter and a list of texts")
	if err != nil {
		return nil, err
	}
	parts, err := texts(list)
	if err != nil {
		return nil, err
	}
	return scalar(strings.Join(parts, delimiter.Value), n.Line), nil
}

// choose evaluates Fn::If: [condition, value if true, value if false].
func (r *resolver) choose(n *yaml.Node) (*yaml.Node, error) {
	if n.Kind != yaml.SequenceNode || len(n.Content) != 3 {
		return nil, refuse(n.Line, "Fn::If takes a list of a condition and two values")
	}
	yes, err := r.holds(n.Content[0])
	if err != nil {
		return nil, err
	}
	if yes {
		return r.resolve(n.Content[1])
	}
	return r.resolve(n.Content[2])
}

// pair resolves a list of two elements, a scalar and a node of any kind.
func (r *resolver) pair(n *yaml.Node, usage string) (first, second *yaml.Node, err error) {
	v, err := r.resolve(n)
	if err != nil {
		return nil, nil, err
	}
	if v == nil || v.Kind != yaml.SequenceNode || len(v.Content) != 2 || v.Content[0].Kind != yaml.ScalarNode {
		return nil, nil, refuse(n.Line, "%s", usage)
	}
	return v.Content[0], v.Content[1], nil
}

func texts(n *yaml.Node) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, refuse(n.Line, "a list is wanted here")
	}
	var all []string
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			return nil, refuse(c.Line, "a text is wanted here")
		}
		all = append(all, c.Value)
	}
	return all, nil
}
