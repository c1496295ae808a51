package ddb

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// scope holds the placeholders that a request's expressions may use. Placeholders are recorded as they are used because
// AWS rejects unused ones.
type scope struct {
	names    map[string]string
	values   item
	reserved map[string]bool
	used     map[string]bool
}

type expressionAttributes struct {
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues item
}

// expression is the text of an expression parameter, or empty if the request omits the parameter.
type expression string

// UnmarshalJSON implements json.Unmarshaler, rejecting an empty expression.
func (e *expression) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, (*string)(e)); err != nil {
		return err
	}
	if *e == "" && string(raw) != "null" {
		return invalidf("Invalid expression: The expression can not be empty;")
	}
	return nil
}

// choice is the value of an enumerated parameter, or empty if the request omits the parameter.
type choice string

// UnmarshalJSON implements json.Unmarshaler, rejecting an empty value.
func (c *choice) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, (*string)(c)); err != nil {
		return err
	}
	if *c == "" && string(raw) != "null" {
		return invalidf("1 validation error detected: Value '' failed to satisfy constraint: Member must satisfy enum " +
			"value set")
	}
	return nil
}

// grammar holds the parser state shared by all expressions.
type grammar struct{ reserved map[string]bool }

// scope validates a request's placeholders, which are allowed only if at least one expression is not empty.
func (g grammar) scope(in expressionAttributes, expressions ...expression) (*scope, error) {
	names, values := in.ExpressionAttributeNames, in.ExpressionAttributeValues
	if !slices.ContainsFunc(expressions, func(e expression) bool { return e != "" }) {
		if names != nil {
			return nil, invalidf("ExpressionAttributeNames can only be specified when using expressions")
		}
		if values != nil {
			return nil, invalidf("ExpressionAttributeValues can only be specified when using expressions: the expressions are " +
				"null")
		}
		return &scope{reserved: g.reserved}, nil
	}
	if names != nil && len(names) == 0 {
		return nil, invalidf("ExpressionAttributeNames must not be empty")
	}
	if values != nil && len(values) == 0 {
		return nil, invalidf("ExpressionAttributeValues must not be empty")
	}
	for name, attribute := range names {
		if !isPlaceholder(name, '#') {
			return nil, invalidf("ExpressionAttributeNames contains invalid key: Syntax error; key: %q", name)
		}
		if attribute == "" {
			return nil, invalidf("ExpressionAttributeNames contains invalid value: Empty string is not a valid attribute "+
				"name; key: %q", name)
		}
	}
	for name := range values {
		if !isPlaceholder(name, ':') {
			return nil, invalidf("ExpressionAttributeValues contains invalid key: Syntax error; key: %q", name)
		}
	}
	return &scope{
		names: names, values: values, reserved: g.reserved,
		used: make(map[string]bool, len(names)+len(values)),
	}, nil
}

func isPlaceholder(name string, sigil byte) bool {
	return len(name) > 1 && name[0] == sigil && wordLength(name[1:]) == len(name)-1
}

// checkUsed returns an error if a placeholder is unused. Call checkUsed after parsing all of the request's expressions.
func (s *scope) checkUsed() error {
	if unused := unusedOf(s.values, s.used); unused != "" {
		return invalidf("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", unused)
	}
	if unused := unusedOf(s.names, s.used); unused != "" {
		return invalidf("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", unused)
	}
	return nil
}

func unusedOf[V any](given map[string]V, used map[string]bool) string {
	var unused []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !used[name] {
			unused = append(unused, name)
		}
	}
	return strings.Join(unused, ", ")
}
