package ddb

import (
	"slices"
	"strings"
)

// keySpan is the range of rows selected by a KeyConditionExpression: one partition, optionally bounded by the sort key.
type keySpan struct {
	partition string
	isBelow   func(order string) bool
	isAbove   func(order string) bool
}

func never(string) bool { return false }

// keyPart is a condition on one key attribute. bounds contains encoded sort keys.
type keyPart struct {
	attribute string
	operator  string // one of = < <= > >=, operatorBetween or functionBeginsWith
	bounds    []string
}

const operatorBetween = "BETWEEN"

// span parses the key condition, which must be partition = :v, optionally combined with one condition on the sort key.
func (q *queryPlan) span() (*keySpan, error) {
	conditions := []condition{q.keyCondition}
	if both, ok := q.keyCondition.(conjunction); ok {
		conditions = []condition{both.left, both.right}
	}
	parts := map[string]keyPart{}
	for _, c := range conditions {
		part, err := q.keyPart(c)
		if err != nil {
			return nil, err
		}
		if _, twice := parts[part.attribute]; twice {
			return nil, invalidf("KeyConditionExpressions must only contain one condition per key")
		}
		parts[part.attribute] = part
	}
	partition, ok := parts[q.key.partition]
	if !ok {
		return nil, invalidf("Query condition missed key schema element: %s", q.key.partition)
	}
	if partition.operator != "=" {
		return nil, invalidf("Query key condition not supported")
	}
	out := &keySpan{partition: partition.bounds[0], isBelow: never, isAbove: never}
	if len(parts) == 1 {
		return out, nil
	}
	if q.key.sort == "" {
		return nil, invalidf("Query key condition not supported")
	}
	order, ok := parts[q.key.sort]
	if !ok {
		return nil, invalidf("Query condition missed key schema element: %s", q.key.sort)
	}
	out.setBounds(order.operator, order.bounds)
	return out, nil
}

func (span *keySpan) setBounds(operator string, bounds []string) {
	first := bounds[0]
	lessThanFirst := func(order string) bool { return order < first }
	moreThanFirst := func(order string) bool { return order > first }
	switch operator {
	case "=":
		span.isBelow, span.isAbove = lessThanFirst, moreThanFirst
	case "<":
		span.isAbove = func(order string) bool { return order >= first }
	case "<=":
		span.isAbove = moreThanFirst
	case ">":
		span.isBelow = func(order string) bool { return order <= first }
	case ">=":
		span.isBelow = lessThanFirst
	case operatorBetween:
		span.isBelow, span.isAbove = lessThanFirst, func(order string) bool { return order > bounds[1] }
	case functionBeginsWith:
		span.isBelow = lessThanFirst
		span.isAbove = func(order string) bool { return order > first && !strings.HasPrefix(order, first) }
	}
}

// keyPart parses one condition of a KeyConditionExpression, rejecting conditions that are not allowed on keys.
func (q *queryPlan) keyPart(c condition) (keyPart, error) {
	var of operand
	var operator string
	var bounds []operand
	switch c := c.(type) {
	case comparison:
		of, operator, bounds = c.left, c.operator, []operand{c.right}
		if _, reversed := c.left.(literal); reversed {
			of, operator, bounds = c.right, mirrored(c.operator), []operand{c.left}
		}
	case between:
		of, operator, bounds = c.of, operatorBetween, []operand{c.low, c.high}
	case call:
		of, operator, bounds = c.args[0], c.function, c.args[1:]
	case conjunction:
		return keyPart{}, invalidf("Conditions can be of length 1 or 2 only")
	case disjunction:
		operator = "OR"
	}
	if !slices.Contains([]string{"=", "<", "<=", ">", ">=", operatorBetween, functionBeginsWith}, operator) {
		return keyPart{}, invalidf("Invalid operator used in KeyConditionExpression: %s", operator)
	}
	at, isPath := of.(attribute)
	if !isPath {
		return keyPart{}, invalidf("Invalid condition in KeyConditionExpression: No key attribute specified")
	}
	part := keyPart{attribute: at.name, operator: operator}
	for _, o := range bounds {
		bound, err := q.keyBound(part.attribute, o)
		if err != nil {
			return keyPart{}, err
		}
		part.bounds = append(part.bounds, bound)
	}
	return part, nil
}

// keyBound encodes a value for comparison with a key attribute.
func (q *queryPlan) keyBound(name string, o operand) (string, error) {
	bound, isValue := o.(literal)
	switch {
	case !isValue:
		return "", invalidf("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition")
	case !q.key.has(name):
	case bound.of.kind != q.table.types[name]:
		return "", invalidf("One or more parameter values were invalid: Condition parameter type does not match schema type")
	case bound.of.text == "":
		return "", invalidf("One or more parameter values are not valid. The AttributeValue for a key attribute cannot "+
			"contain an empty %s value. Key: %s",
			strings.ToLower(operandName(bound.of.kind)), name)
	}
	return bound.of.sortKey(), nil
}

// mirrored returns the equivalent operator for swapped operands.
func mirrored(operator string) string {
	switch operator {
	case "<":
		return ">"
	case ">":
		return "<"
	case "<=":
		return ">="
	case ">=":
		return "<="
	}
	return operator
}
