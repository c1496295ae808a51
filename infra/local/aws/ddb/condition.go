package ddb

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// condition is a parsed condition, filter or key condition. A nil item is an item without attributes.
type condition interface {
	holds(it item) bool
	// operands are the leaves that the condition reads.
	operands() []operand
}

// operand is a side of a comparison; ok is false when the item has no such value.
type operand interface {
	value(it item) (v value, ok bool)
}

type (
	literal   struct{ of value }
	attribute struct{ at path }
	sizeOf    struct{ of operand }
)

func (o literal) value(item) (value, bool) { return o.of, true }

func (o attribute) value(it item) (value, bool) { return o.at.get(it) }

func (o sizeOf) value(it item) (value, bool) {
	v, ok := o.of.value(it)
	if !ok {
		return value{}, false
	}
	var length int
	switch v.kind {
	case typeString:
		for _, r := range v.text {
			length += utf16.RuneLen(r) // as DynamoDB counts characters
		}
	case typeBinary:
		length = len(v.text)
	case typeList:
		length = len(v.list)
	case typeMap:
		length = len(v.fields)
	case typeStringSet, typeNumberSet, typeBinarySet:
		length = len(v.set)
	default:
		return value{}, false
	}
	return value{kind: typeNumber, text: strconv.Itoa(length)}, true
}

type (
	conjunction struct{ left, right condition }
	disjunction struct{ left, right condition }
	negation    struct{ of condition }
	comparison  struct {
		operator    string // = <> < <= > >=
		left, right operand
	}
	between struct{ of, low, high operand }
	oneOf   struct {
		of   operand
		list []operand
	}
	call struct {
		function string
		args     []operand
	}
)

func (c conjunction) holds(it item) bool { return c.left.holds(it) && c.right.holds(it) }

func (c conjunction) operands() []operand { return append(c.left.operands(), c.right.operands()...) }

func (c disjunction) holds(it item) bool { return c.left.holds(it) || c.right.holds(it) }

func (c disjunction) operands() []operand { return append(c.left.operands(), c.right.operands()...) }

func (c negation) holds(it item) bool { return !c.of.holds(it) }

func (c negation) operands() []operand { return c.of.operands() }

func (c comparison) operands() []operand { return []operand{c.left, c.right} }

func (c comparison) holds(it item) bool {
	left, okLeft := c.left.value(it)
	right, okRight := c.right.value(it)
	if !okLeft || !okRight {
		return c.operator == "<>" // what is not there differs from everything, and from what else is not there
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

func (c between) operands() []operand { return []operand{c.of, c.low, c.high} }

func (c between) holds(it item) bool {
	return comparison{">=", c.of, c.low}.holds(it) && comparison{"<=", c.of, c.high}.holds(it)
}

func (c oneOf) operands() []operand { return append([]operand{c.of}, c.list...) }

func (c oneOf) holds(it item) bool {
	return slices.ContainsFunc(c.list, func(candidate operand) bool {
		return comparison{"=", c.of, candidate}.holds(it)
	})
}

const (
	functionExists     = "attribute_exists"
	functionNotExists  = "attribute_not_exists"
	functionType       = "attribute_type"
	functionBeginsWith = "begins_with"
	functionContains   = "contains"
	functionSize       = "size"
)

func (c call) operands() []operand { return c.args }

func (c call) holds(it item) bool {
	of, exists := c.args[0].value(it)
	switch c.function {
	case functionExists:
		return exists
	case functionNotExists:
		return !exists
	}
	other, ok := c.args[1].value(it)
	if !exists || !ok {
		return false
	}
	switch c.function {
	case functionType:
		return of.kind == other.text
	case functionBeginsWith:
		return of.kind == other.kind && of.kind != typeNumber && of.isScalar() && strings.HasPrefix(of.text, other.text)
	}
	return contains(of, other)
}

// contains is a substring of a string or binary, a member of a set, or an element of a list.
func contains(of, other value) bool {
	switch of.kind {
	case typeString, typeBinary:
		return of.kind == other.kind && strings.Contains(of.text, other.text)
	case typeList:
		return slices.ContainsFunc(of.list, func(element value) bool { return equal(element, other) })
	case typeStringSet, typeNumberSet, typeBinarySet:
		return of.kind[:1] == other.kind && slices.Contains(of.set, other.text)
	}
	return false
}
