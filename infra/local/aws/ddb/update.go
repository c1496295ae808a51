package ddb

import (
	"maps"
	"slices"
)

// setExpression is the right side of a SET clause, computed from the item as it was before the update.
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
		at       path
		fallback setExpression
	}
	listAppend struct{ first, second setExpression }
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
	fallback, err := f.fallback.compute(old) // it has to be there even when nobody needs it
	if err != nil {
		return value{}, err
	}
	if v, ok := f.at.get(old); ok {
		return v, nil
	}
	return fallback, nil
}

func (f listAppend) compute(old item) (value, error) {
	first, err := f.first.compute(old)
	if err != nil {
		return value{}, err
	}
	second, err := f.second.compute(old)
	if err != nil {
		return value{}, err
	}
	if first.kind != typeList || second.kind != typeList {
		return value{}, errBadOperand()
	}
	return value{kind: typeList, list: slices.Concat(first.list, second.list)}, nil
}

// updated returns the item after actions, which are sorted by path; old stays as it is. Every clause sees the old item,
// and removals come last and from the back of a list, so that positions mean what they meant in the old item.
func updated(old item, actions []action) (item, error) {
	next := maps.Clone(old)
	var removals []path
	for _, a := range actions {
		var err error
		switch a.kind {
		case actionSet:
			var v value
			if v, err = a.set.compute(old); err == nil {
				err = a.at.set(next, v)
			}
		case actionAdd:
			err = a.add(old, next)
		case actionDelete:
			err = a.deleteMembers(old, next)
		case actionRemove:
			removals = append(removals, a.at)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, at := range slices.Backward(removals) {
		if err := at.remove(next); err != nil {
			return nil, err
		}
	}
	return next, nil
}

func (a action) add(old, next item) error {
	current, exists := a.at.get(old)
	switch {
	case !exists:
		return a.at.set(next, a.operand)
	case current.kind != a.operand.kind:
		return errBadOperand()
	case current.kind == typeNumber:
		text, err := addNumbers(current.text, a.operand.text, false)
		if err != nil {
			return err
		}
		return a.at.set(next, value{kind: typeNumber, text: text})
	}
	union := slices.Clone(current.set)
	for _, member := range a.operand.set {
		if !slices.Contains(union, member) {
			union = append(union, member)
		}
	}
	return a.at.set(next, value{kind: current.kind, set: union})
}

func (a action) deleteMembers(old, next item) error {
	current, exists := a.at.get(old)
	if !exists {
		return a.at.remove(next) // which refuses a path through what is not there
	}
	if current.kind != a.operand.kind {
		return errBadOperand()
	}
	left := slices.DeleteFunc(slices.Clone(current.set), func(member string) bool {
		return slices.Contains(a.operand.set, member)
	})
	if len(left) == 0 {
		return a.at.remove(next) // DynamoDB has no empty sets
	}
	return a.at.set(next, value{kind: current.kind, set: left})
}
