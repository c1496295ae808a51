package template

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// decideAll evaluates every condition, so that errors in unused conditions are also reported.
func (r *resolver) decideAll() error {
	for _, name := range slices.Sorted(maps.Keys(r.conditions)) {
		if _, err := r.holds(scalar(name, 0)); err != nil {
			return in(name, err)
		}
	}
	return nil
}

// holds returns the value of the condition named by n, evaluating each condition only once.
func (r *resolver) holds(n *yaml.Node) (bool, error) {
	if n.Kind != yaml.ScalarNode {
		return false, refuse(n.Line, "a condition is referred to by its name")
	}
	if v, ok := r.decided[n.Value]; ok {
		return v, nil
	}
	expression, ok := r.conditions[n.Value]
	if !ok {
		return false, refuse(n.Line, "the condition %s does not exist or leads back to itself", n.Value)
	}
	// The condition is removed while it is evaluated, so that a circular reference fails as an unknown condition.
	delete(r.conditions, n.Value)
	v, err := r.decide(expression)
	if err != nil {
		return false, err
	}
	r.decided[n.Value] = v
	return v, nil
}

func (r *resolver) decide(n *yaml.Node) (bool, error) {
	if n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "Condition" {
		return r.holds(n.Content[1])
	}
	name, argument := function(n)
	switch name {
	case "Fn::Equals":
		return r.equals(argument)
	case "Fn::Not":
		if argument.Kind != yaml.SequenceNode || len(argument.Content) != 1 {
			return false, refuse(n.Line, "Fn::Not takes a list of one condition")
		}
		v, err := r.decide(argument.Content[0])
		return !v, err
	case "Fn::And", "Fn::Or":
		return r.combine(name == "Fn::And", argument)
	}
	return false, refuse(n.Line, "this is not a condition")
}

// equals compares two resolved strings exactly, as CloudFormation does.
func (r *resolver) equals(argument *yaml.Node) (bool, error) {
	if argument.Kind != yaml.SequenceNode || len(argument.Content) != 2 {
		return false, refuse(argument.Line, "Fn::Equals takes a list of two values")
	}
	left, err := r.text(argument.Content[0])
	if err != nil {
		return false, err
	}
	right, err := r.text(argument.Content[1])
	return left == right, err
}

// combine evaluates Fn::And (if all is true) or Fn::Or. Every operand is evaluated, so that all errors are found.
func (r *resolver) combine(all bool, argument *yaml.Node) (bool, error) {
	if argument.Kind != yaml.SequenceNode || len(argument.Content) < 2 || len(argument.Content) > 10 {
		return false, refuse(argument.Line, "Fn::And and Fn::Or take a list of 2 to 10 conditions")
	}
	result := all
	for _, c := range argument.Content {
		v, err := r.decide(c)
		if err != nil {
			return false, err
		}
		if all {
			result = result && v
		} else {
			result = result || v
		}
	}
	return result, nil
}
