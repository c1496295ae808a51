package ddb

import "maps"

// setExpression is the right side of a SET clause, evaluated against the item before the update.
type setExpression interface {
	compute(old item) (value, error)
}

type (
	operandTerm struct{ of operand }
	sum         struct {
		left, right setExpression
		subtract    bool
	}
	ifNotExists struct {
		of       attribute
		fallback setExpression
	}
)

func errBadOperand() error {
	return invalidf("An operand in the update expression has an incorrect data type")
}

func (t operandTerm) compute(old item) (value, error) {
	v, ok := t.of.value(old)
	if !ok {
		return value{}, invalidf("The provided expression refers to an attribute that does not exist in the item")
	}
	return v, nil
}

func (s sum) compute(old item) (value, error) {
	left, err := s.left.compute(old)
	if err != nil {
		return value{}, err
	}
	right, err := s.right.compute(old)
	if err != nil {
		return value{}, err
	}
	if left.kind != typeNumber || right.kind != typeNumber {
		return value{}, errBadOperand()
	}
	text, err := addNumbers(left.text, right.text, s.subtract)
	return value{kind: typeNumber, text: text}, err
}

func (f ifNotExists) compute(old item) (value, error) {
	fallback, err := f.fallback.compute(old) // return the fallback's errors even if its value is not needed
	if err != nil {
		return value{}, err
	}
	if v, ok := f.of.value(old); ok {
		return v, nil
	}
	return fallback, nil
}

// updated returns the result of applying actions to old. It does not modify old, and every clause reads old's original
// values.
func updated(old item, actions []action) (item, error) {
	next := maps.Clone(old)
	for _, a := range actions {
		switch a.kind {
		case actionSet:
			v, err := a.set.compute(old)
			if err != nil {
				return nil, err
			}
			next[a.attribute] = v
		case actionAdd:
			sum, err := a.sum(old)
			if err != nil {
				return nil, err
			}
			next[a.attribute] = sum
		case actionRemove:
			delete(next, a.attribute)
		}
	}
	return next, nil
}

// sum adds the operand of an ADD clause to the attribute's current number. A missing attribute counts as zero.
func (a action) sum(old item) (value, error) {
	current, exists := old[a.attribute]
	switch {
	case !exists:
		return a.operand, nil
	case current.kind != typeNumber:
		return value{}, errBadOperand()
	}
	text, err := addNumbers(current.text, a.operand.text, false)
	return value{kind: typeNumber, text: text}, err
}
