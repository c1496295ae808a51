package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Account and region of the embedded AWS.
const (
	account = "000000000000"
	region  = "us-east-1"
)

// parameterValues returns the value of Ref for each parameter and pseudo parameter. Overrides in o take precedence over
// the template's defaults.
func parameterValues(section []entry, o Options) (map[string]*yaml.Node, error) {
	values := map[string]*yaml.Node{}
	for name, value := range map[string]string{
		"AWS::AccountId": account, "AWS::Region": region, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com",
		"AWS::StackName": o.StackName,
	} {
		values[name] = scalar(value, 0)
	}
	declared := map[string]bool{}
	for _, e := range section {
		override, given := o.Parameters[e.key]
		v, err := parameterValue(e, override, given)
		if err != nil {
			return nil, in(e.key, err)
		}
		values[e.key], declared[e.key] = v, true
	}
	for _, name := range slices.Sorted(maps.Keys(o.Parameters)) {
		if !declared[name] {
			return nil, fmt.Errorf("%s: the template has no such parameter", name)
		}
	}
	return values, nil
}

func parameterValue(e entry, override string, given bool) (*yaml.Node, error) {
	d := read(e.value, e.line)
	d.ignore("Description")
	kind := d.oneOf("Type", "String", "Number", "CommaDelimitedList")
	fallback := d.take("Default")
	limits := readConstraints(d)
	if err := d.end(); err != nil {
		return nil, err
	}
	value := override
	if !given {
		if fallback == nil || fallback.Kind != yaml.ScalarNode {
			return nil, refuse(e.line, "the parameter has no Default and no value was given")
		}
		value = fallback.Value
	}
	parts := []string{value}
	if kind == "CommaDelimitedList" {
		parts = strings.Split(value, ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
	}
	for _, p := range parts {
		if reason := limits.reject(p, kind == "Number"); reason != "" {
			return nil, refuse(e.line, "%s", reason)
		}
	}
	if kind == "CommaDelimitedList" {
		return sequence(parts, e.line), nil
	}
	return scalar(value, e.line), nil
}

func scalar(value string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: line}
}

func sequence(values []string, line int) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: line}
	for _, v := range values {
		n.Content = append(n.Content, scalar(v, line))
	}
	return n
}
