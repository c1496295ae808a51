package asyncapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// object is a mapping whose members stay in the order that they are written in.
type object []member

type member struct {
	name  string
	value any
}

// MarshalYAML implements yaml.Marshaler.
func (o object) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range o {
		var name, value yaml.Node
		name.SetString(m.name)
		if err := value.Encode(m.value); err != nil {
			return nil, fmt.Errorf("encode %s: %w", m.name, err)
		}
		mapping.Content = append(mapping.Content, &name, &value)
	}
	return mapping, nil
}

// with returns the object with one more member.
func (o object) with(name string, value any) object {
	return append(slices.Clip(o), member{name, value})
}

func (o object) has(name string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.name == name })
}

// words is a list of texts on one line.
type words []string

// MarshalYAML implements yaml.Marshaler.
func (w words) MarshalYAML() (any, error) {
	var list yaml.Node
	if err := list.Encode([]string(w)); err != nil {
		return nil, fmt.Errorf("encode a list: %w", err)
	}
	list.Style = yaml.FlowStyle
	return &list, nil
}

// asWritten is JSON as YAML, with its members in their order.
func asWritten(text []byte) (*yaml.Node, error) {
	if !json.Valid(text) {
		return nil, errors.New("an example is not JSON")
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil { // JSON is YAML, too
		return nil, fmt.Errorf("read an example: %w", err)
	}
	plain(&document)
	return document.Content[0], nil
}

// plain drops brackets and quotes, which the encoder sets again where they are needed.
func plain(n *yaml.Node) {
	n.Style = 0
	for _, inner := range n.Content {
		plain(inner)
	}
}
