package ddb

import "strings"

// condition is a parsed condition or key condition. A nil item is treated as an item without attributes.
type condition interface {
	holds(it item) bool
}

// operand is one side of a comparison. If the item lacks the operand's value, ok is false.
type operand interface {
	value(it item) (v value, ok bool)
}

type (
	literal   struct{ of value }
	attribute struct{ name string }
)

func (o literal) value(item) (value, bool) { return o.of, true }

func (o attribute) value(it item) (value, bool) {
	v, ok := it[o.name]
	return v, ok
}

type (
	conjunction struct{ left, right condition }
	disjunction struct{ left, right condition }
	comparison  struct {
		operator    string // one of = <> < <= > >=
		left, right operand
	}
	between struct{ of, low, high operand }
	call    struct {
		function string
		args     []operand
	}
)

func (c conjunction) holds(it item) bool { return c.left.holds(it) && c.right.holds(it) }

func (c disjunction) holds(it item) bool { return c.left.holds(it) || c.right.holds(it) }

func (c comparison) holds(it item) bool {
	left, okLeft := c.left.value(it)
	right, okRight := c.right.value(it)
	if !okLeft || !okRight {
		return c.operator == "<>" // a missing value does not equal any value, not even another missing one
	}
	switch c.operator {
	case "=":
		return equal(left, right)
	case "<>":
		return !equal(left, right)
	}
	order, ok := compare(left, right)
	if !ok {
		return false
	}
	switch c.operator {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func (c between) holds(it item) bool {
	return comparison{">=", c.of, c.low}.holds(it) && comparison{"<=", c.of, c.high}.holds(it)
}

const (
	functionExists     = "attribute_exists"
	functionNotExists  = "attribute_not_exists"
	functionBeginsWith = "begins_with"
)

func (c call) holds(it item) bool {
	of, exists := c.args[0].value(it)
	switch c.function {
	case functionExists:
		return exists
	case functionNotExists:
		return !exists
	}
	prefix, ok := c.args[1].value(it)
	return exists && ok && of.kind == prefix.kind && of.kind != typeNumber && of.isScalar() &&
		strings.HasPrefix(of.text, prefix.text)
}
