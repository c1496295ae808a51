package fhirpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
)

type binary struct {
	operator    string
	left, right term
}

func (b binary) evaluate(env environment, this Node) ([]Node, error) {
	left, err := b.left.evaluate(env, this)
	if err != nil {
		return nil, err
	}
	right, err := b.right.evaluate(env, this)
	if err != nil {
		return nil, err
	}
	switch b.operator {
	case "and", "or":
		return logic(left, right, b.operator == "or")
	}
	if len(left) == 0 || len(right) == 0 {
		return nil, nil
	}
	switch b.operator {
	case "=", "!=":
		equal, known, err := equalAll(left, right)
		if err != nil || !known {
			return nil, err
		}
		return boolean(equal == (b.operator == "=")), nil
	}
	if len(left) > 1 || len(right) > 1 {
		return nil, fmt.Errorf("%s needs single values, not a collection", b.operator)
	}
	switch b.operator {
	case "+", "-", "*", "/":
		return arithmetic(b.operator, left[0], right[0])
	}
	return compare(b.operator, left[0], right[0])
}

// logic combines two conditions in three-valued logic. decides is the operand that determines the result alone.
func logic(left, right []Node, decides bool) ([]Node, error) {
	l, lKnown, err := truth(left)
	if err != nil {
		return nil, err
	}
	r, rKnown, err := truth(right)
	switch {
	case err != nil:
		return nil, err
	case lKnown && l == decides, rKnown && r == decides:
		return boolean(decides), nil
	case lKnown && rKnown:
		return boolean(!decides), nil
	}
	return nil, nil
}

// equalAll compares two collections. known is false if the precision of two times doesn't suffice.
func equalAll(left, right []Node) (equal, known bool, err error) {
	if len(left) != len(right) {
		return false, true, nil
	}
	for i := range left {
		if equal, known, err = equalNodes(left[i], right[i]); !equal || !known || err != nil {
			return equal, known, err
		}
	}
	return true, true, nil
}

func equalNodes(left, right Node) (equal, known bool, err error) {
	switch l := left.Value.(type) {
	case json.Number:
		r, ok := right.Value.(json.Number)
		if !ok {
			return false, true, nil
		}
		order, err := compareNumbers(l, r)
		return order == 0, true, err
	case string:
		r, ok := right.Value.(string)
		if ok && l != r && (left.temporal() || right.temporal()) {
			if order, known, isTime := compareTimes(l, r); isTime {
				return order == 0, known, nil
			}
		}
		return ok && l == r, true, nil
	}
	return reflect.DeepEqual(left.Value, right.Value), true, nil
}

func compare(operator string, left, right Node) ([]Node, error) {
	var order int
	switch l := left.Value.(type) {
	case json.Number:
		r, ok := right.Value.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%s compares values of different types", operator)
		}
		var err error
		if order, err = compareNumbers(l, r); err != nil {
			return nil, err
		}
	case string:
		r, ok := right.Value.(string)
		if !ok {
			return nil, fmt.Errorf("%s compares values of different types", operator)
		}
		inTime, known, isTime := compareTimes(l, r)
		if isTime && !known {
			return nil, nil
		}
		if order = inTime; !isTime {
			order = strings.Compare(l, r)
		}
	default:
		return nil, fmt.Errorf("%s compares values that have no order", operator)
	}
	switch operator {
	case "<":
		return boolean(order < 0), nil
	case "<=":
		return boolean(order <= 0), nil
	case ">":
		return boolean(order > 0), nil
	}
	return boolean(order >= 0), nil
}

func compareNumbers(left, right json.Number) (int, error) {
	l, err := rational(left.String())
	if err != nil {
		return 0, err
	}
	r, err := rational(right.String())
	if err != nil {
		return 0, err
	}
	return l.Cmp(r), nil
}

// maxDigits bounds the size of a number, because a short text with an exponent can denote a huge one.
const maxDigits = 64

// rational parses a decimal.
func rational(text string) (*big.Rat, error) {
	if len(text) > maxDigits {
		return nil, fmt.Errorf("a number has more than %d characters", maxDigits)
	}
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(text), "e")
	if scientific && len(strings.TrimLeft(exponent, "+-0")) > 2 {
		return nil, errors.New("a number's exponent is too large")
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok || mantissa == "" {
		return nil, errors.New("a value isn't a number")
	}
	return value, nil
}

// precision is the number of decimal places of a quotient (FHIRPath 2.0.0, 4.1.3).
const precision = 8

func arithmetic(operator string, left, right Node) ([]Node, error) {
	if l, ok := left.Value.(string); ok && operator == "+" {
		r, ok := right.Value.(string)
		if !ok || len(l)+len(r) > maxText {
			return nil, errors.New("+ adds two numbers or two strings")
		}
		return []Node{Literal(l+r, "string")}, nil
	}
	l, lOK := left.Value.(json.Number)
	r, rOK := right.Value.(json.Number)
	if !lOK || !rOK {
		return nil, fmt.Errorf("%s needs two numbers", operator)
	}
	x, err := rational(l.String())
	if err != nil {
		return nil, err
	}
	y, err := rational(r.String())
	if err != nil {
		return nil, err
	}
	result := new(big.Rat)
	switch operator {
	case "+":
		result.Add(x, y)
	case "-":
		result.Sub(x, y)
	case "*":
		result.Mul(x, y)
	case "/":
		if y.Sign() == 0 {
			return nil, nil
		}
		result.Quo(x, y)
	}
	return number(format(result), "decimal"), nil
}

// maxText is the size of the longest string that an expression may compose.
const maxText = 1 << 16

// format writes a number without superfluous zeros. Sums and products keep all digits.
func format(value *big.Rat) string {
	if value.IsInt() {
		return value.Num().String()
	}
	places, exact := value.FloatPrec()
	if !exact {
		places = precision
	}
	return strings.TrimRight(strings.TrimRight(value.FloatString(places), "0"), ".")
}
