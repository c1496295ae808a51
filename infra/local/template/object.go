package template

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// object reads a mapping property by property and records each one, so that finish can reject the others. Any property
// that is not read would make a local stack differ from AWS. The first error is stored and shared with nested objects,
// so a caller can read all properties and check for an error once at the end.
type object struct {
	node  *yaml.Node // nil if the mapping is absent, in which case all properties are also absent
	where string     // prefix for property names, such as "Environment."
	seen  map[string]bool
	err   *error
	start int // line to report in errors if the mapping is absent
}

// read starts reading a mapping that contains no unresolved intrinsic functions. start is the line of the mapping's
// parent node.
func read(n *yaml.Node, start int) *object {
	return within(n, "", new(error), start)
}

// within starts reading a nested mapping and stores errors in err, which it shares with its parent.
func within(n *yaml.Node, where string, err *error, start int) *object {
	o := &object{node: n, where: where, seen: map[string]bool{}, err: err, start: start}
	if n != nil && n.Kind != yaml.MappingNode {
		o.node = nil
		o.failf(n.Line, "%s is not a mapping", cmp.Or(strings.TrimSuffix(where, "."), "this"))
	}
	return o
}

func (o *object) failf(line int, format string, args ...any) {
	if *o.err == nil {
		*o.err = refuse(line, format, args...)
	}
}

// line returns the mapping's line, for errors about missing properties.
func (o *object) line() int {
	if o.node == nil {
		return o.start
	}
	return o.node.Line
}

// take marks a property as read and returns its node, or nil if the property is absent.
func (o *object) take(key string) *yaml.Node {
	o.seen[key] = true
	for _, e := range entries(o.node) {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// ignore marks as read the properties that have no effect on a local stack.
func (o *object) ignore(keys ...string) {
	for _, k := range keys {
		o.seen[k] = true
	}
}

// text reads a scalar, or returns "" if the property is absent.
func (o *object) text(key string) string {
	n := o.take(key)
	if n == nil {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		o.failf(n.Line, "%s%s is not a text", o.where, key)
		return ""
	}
	return n.Value
}

func (o *object) required(key string) string {
	v := o.text(key)
	if v == "" {
		o.failf(o.line(), "%s%s is missing", o.where, key)
	}
	return v
}

// oneOf reads a scalar and rejects values not in values.
func (o *object) oneOf(key string, values ...string) string {
	v := o.required(key)
	if v != "" && !slices.Contains(values, v) {
		o.failf(o.take(key).Line, "%s%s: %q is not understood, only %s", o.where, key, v, strings.Join(values, ", "))
	}
	return v
}

// number reads an integer between lowest and highest, or returns fallback if the property is absent.
func (o *object) number(key string, lowest, highest, fallback int) int {
	n := o.take(key)
	if n == nil {
		return fallback
	}
	v, err := strconv.Atoi(n.Value)
	if err != nil || v < lowest || v > highest {
		o.failf(n.Line, "%s%s is not a number from %d to %d", o.where, key, lowest, highest)
	}
	return v
}

// flag reads a boolean, or returns false if the property is absent.
func (o *object) flag(key string) bool {
	n := o.take(key)
	if n == nil {
		return false
	}
	if n.Value != "true" && n.Value != "false" {
		o.failf(n.Line, "%s%s is neither true nor false", o.where, key)
	}
	return n.Value == "true"
}

// texts reads a list of scalars; a single scalar counts as a list of one.
func (o *object) texts(key string) []string {
	n := o.take(key)
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	var all []string
	for _, item := range o.list(key) {
		if item.Kind != yaml.ScalarNode {
			o.failf(item.Line, "%s%s holds something that is not a text", o.where, key)
		}
		all = append(all, item.Value)
	}
	return all
}

func (o *object) list(key string) []*yaml.Node {
	n := o.take(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		o.failf(n.Line, "%s%s is not a list", o.where, key)
		return nil
	}
	return n.Content
}

func (o *object) objects(key string) []*object {
	items := o.list(key)
	all := make([]*object, 0, len(items))
	for _, item := range items {
		all = append(all, within(item, o.where+key+".", o.err, o.line()))
	}
	return all
}

// mapping returns a property's node, which must be a mapping, or nil if the property is absent.
func (o *object) mapping(key string) *yaml.Node {
	return o.object(key).node
}

// object reads a nested mapping. The caller must call finish on the returned object.
func (o *object) object(key string) *object {
	return within(o.take(key), o.where+key+".", o.err, o.line())
}

func (o *object) textMap(key string) map[string]string {
	values := o.object(key)
	all := map[string]string{}
	for _, e := range entries(values.node) {
		all[e.key] = values.text(e.key)
	}
	return all
}

// finish rejects properties that were not read.
func (o *object) finish() {
	for _, e := range entries(o.node) {
		if !o.seen[e.key] {
			o.failf(e.line, "the property %s%s is not understood", o.where, e.key)
		}
	}
}

// end finishes the outermost object and returns the first error in it or its nested objects.
func (o *object) end() error {
	o.finish()
	return *o.err
}
