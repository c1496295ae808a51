package fhirpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// call is the invocation of a function on input.
type call struct {
	function  function
	name      string
	input     term
	arguments []term
	kind      string // the type specifier, or empty
}

type function struct {
	min, max  int  // number of arguments
	takesType bool // whether the argument is a type specifier
	apply     func(c call, env environment, this Node, input []Node) ([]Node, error)
}

var functions = map[string]function{
	"where":           {1, 1, false, where},
	"exists":          {0, 1, false, exists},
	"empty":           {0, 0, false, empty},
	"not":             {0, 0, false, not},
	"first":           {0, 0, false, first},
	"ofType":          {1, 1, true, ofType},
	"extension":       {1, 1, false, extension},
	"join":            {0, 1, false, join},
	"getResourceKey":  {0, 0, false, resourceKey},
	"getReferenceKey": {0, 1, true, referenceKey},
}

func (c call) evaluate(env environment, this Node) ([]Node, error) {
	input, err := c.input.evaluate(env, this)
	if err != nil {
		return nil, err
	}
	if err := env.spend(len(input)); err != nil {
		return nil, err
	}
	return c.function.apply(c, env, this, input)
}

// text evaluates the argument, which must be a string.
func (c call) text(env environment, this Node) (string, error) {
	result, err := c.arguments[0].evaluate(env, this)
	if err != nil {
		return "", err
	}
	if len(result) == 1 {
		if text, ok := result[0].Value.(string); ok {
			return text, nil
		}
	}
	return "", fmt.Errorf("the argument of %s isn't a string", c.name)
}

func where(c call, env environment, _ Node, input []Node) ([]Node, error) {
	var found []Node
	for _, node := range input {
		ok, err := holds(c.arguments[0], env, node)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, node)
		}
	}
	return found, nil
}

func exists(c call, env environment, this Node, input []Node) ([]Node, error) {
	if len(c.arguments) == 0 {
		return boolean(len(input) > 0), nil
	}
	found, err := where(c, env, this, input)
	return boolean(len(found) > 0), err
}

func empty(_ call, _ environment, _ Node, input []Node) ([]Node, error) {
	return boolean(len(input) == 0), nil
}

func not(_ call, _ environment, _ Node, input []Node) ([]Node, error) {
	value, known, err := truth(input)
	if err != nil || !known {
		return nil, err
	}
	return boolean(!value), nil
}

func first(_ call, _ environment, _ Node, input []Node) ([]Node, error) {
	return input[:min(1, len(input))], nil
}

func ofType(c call, _ environment, _ Node, input []Node) ([]Node, error) {
	var found []Node
	for _, node := range input {
		is, known := node.is(c.kind)
		if !known {
			return nil, errors.New("ofType supports only choice elements, such as value in Observation, and resources")
		}
		if is {
			found = append(found, node)
		}
	}
	return found, nil
}

func extension(c call, env environment, this Node, input []Node) ([]Node, error) {
	url, err := c.text(env, this)
	if err != nil {
		return nil, err
	}
	var found []Node
	for _, node := range input {
		for _, e := range node.child("extension") {
			if object, ok := e.Value.(map[string]any); ok && object["url"] == url {
				found = append(found, e)
			}
		}
	}
	return found, env.spend(len(found))
}

func join(c call, env environment, this Node, input []Node) ([]Node, error) {
	separator := ""
	if len(c.arguments) > 0 {
		var err error
		if separator, err = c.text(env, this); err != nil {
			return nil, err
		}
	}
	var texts []string
	size := 0
	for _, node := range input {
		text, ok := node.Value.(string)
		if node.Value == nil {
			continue
		}
		if size += len(text) + len(separator); !ok || size > maxText {
			return nil, errors.New("join needs strings of at most 64 KB")
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return nil, nil
	}
	return []Node{Literal(strings.Join(texts, separator), "string")}, nil
}

func resourceKey(_ call, _ environment, _ Node, input []Node) ([]Node, error) {
	var keys []Node
	for _, node := range input {
		object, ok := node.Value.(map[string]any)
		if !ok || object["resourceType"] == nil {
			return nil, errors.New("getResourceKey needs a resource")
		}
		if id, ok := object["id"].(string); ok {
			keys = append(keys, Literal(id, "id"))
		}
	}
	return keys, nil
}

// referenceKey returns the ID in each reference, which equals the ID of the resource. References to contained resources
// and conditional references have no key.
func referenceKey(c call, _ environment, _ Node, input []Node) ([]Node, error) {
	var keys []Node
	for _, node := range input {
		object, ok := node.Value.(map[string]any)
		if !ok {
			return nil, errors.New("getReferenceKey needs a reference")
		}
		text, _ := object["reference"].(string)
		declared, _ := object["type"].(string)
		kind, id := splitReference(text)
		if kind == "" {
			kind = declared
		}
		if id != "" && (c.kind == "" || c.kind == kind) {
			keys = append(keys, Literal(id, "id"))
		}
	}
	return keys, nil
}

// splitReference returns the type and the ID of a relative or absolute URL, or only the ID of a UUID.
func splitReference(reference string) (kind, id string) {
	if uuid, ok := strings.CutPrefix(reference, "urn:uuid:"); ok {
		return "", uuid
	}
	reference, _, _ = strings.Cut(reference, "/_history/")
	segments := strings.Split(reference, "/")
	if n := len(segments); n >= 2 && !strings.ContainsAny(segments[n-1], "#?") {
		return segments[n-2], segments[n-1]
	}
	return "", ""
}

// Text returns the text of a primitive value. ok is false if the value is a complex element.
func Text(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		if v {
			return "true", true
		}
		return "false", true
	}
	return "", false
}
