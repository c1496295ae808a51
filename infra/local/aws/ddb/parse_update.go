package ddb

import (
	"slices"
	"strings"
)

const (
	actionSet    = "SET"
	actionRemove = "REMOVE"
	actionAdd    = "ADD"

	functionIfNotExists = "if_not_exists"
)

// action is a clause of an UpdateExpression. A SET clause has a set expression, an ADD clause has a numeric operand,
// and a REMOVE clause has neither.
type action struct {
	kind      string
	attribute string
	set       setExpression
	operand   value
}

type updateParser struct{ *parser }

// update parses an UpdateExpression. The expression's sections may appear in any order, each at most once.
func (s *scope) update(source expression) ([]action, error) {
	tokens, err := s.parser("UpdateExpression", source)
	if err != nil {
		return nil, err
	}
	p := updateParser{tokens}
	var actions []action
	seen := map[string]bool{}
	for !p.done() {
		section := strings.ToUpper(p.peek().text)
		if section == "DELETE" {
			return nil, p.leftOut(section)
		}
		if !slices.Contains([]string{actionSet, actionRemove, actionAdd}, section) {
			return nil, p.syntaxError()
		}
		if seen[section] {
			return nil, p.errorf("The %q section can only be used once in an update expression;", section)
		}
		seen[section] = true
		p.at++
		if actions, err = p.section(section, actions); err != nil {
			return nil, err
		}
	}
	for i, later := range actions {
		for _, earlier := range actions[:i] {
			if err = p.checkApart(earlier.attribute, later.attribute); err != nil {
				return nil, err
			}
		}
	}
	return actions, nil
}

func (u updateParser) section(section string, actions []action) ([]action, error) {
	for {
		next, err := u.action(section)
		if err != nil {
			return nil, err
		}
		actions = append(actions, next)
		if !u.accept(",") {
			return actions, nil
		}
	}
}

func (u updateParser) action(section string) (action, error) {
	out := action{kind: section}
	var err error
	if out.attribute, err = u.path(); err != nil {
		return action{}, err
	}
	if err = u.countOperator(); err != nil {
		return action{}, err
	}
	switch section {
	case actionSet:
		if err = u.expect("="); err != nil {
			return action{}, err
		}
		out.set, err = u.setExpression()
	case actionAdd:
		out.operand, err = u.addend()
	}
	return out, err
}

// addend parses the number in an ADD clause.
func (u updateParser) addend() (value, error) {
	if u.peek().kind != valueRef {
		return value{}, u.syntaxError()
	}
	found, err := u.value()
	switch v := found.of; {
	case err != nil:
		return value{}, err
	case v.isSet():
		return value{}, u.leftOut("ADD of a set")
	case v.kind != typeNumber:
		return value{}, u.errorf("Incorrect operand type for operator or function; operator: ADD, operand type: %s, "+
			"typeSet: ALLOWED_FOR_ADD_OPERAND", operandName(v.kind))
	default:
		return v, nil
	}
}

func (u updateParser) setExpression() (setExpression, error) {
	left, err := u.setTerm()
	if err != nil || !u.is("+") && !u.is("-") {
		return left, err
	}
	operator := u.peek().text
	u.at++
	if err = u.countOperator(); err != nil {
		return nil, err
	}
	right, err := u.setTerm()
	if err != nil {
		return nil, err
	}
	for _, term := range []setExpression{left, right} {
		if l, ok := term.(operandTerm); ok {
			if v, isLiteral := l.of.(literal); isLiteral && v.of.kind != typeNumber {
				return nil, u.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
					operator, v.of.kind)
			}
		}
	}
	return sum{left, right, operator == "-"}, nil
}

func (u updateParser) setTerm() (setExpression, error) {
	switch {
	case u.is("("):
		return nil, u.leftOut("a bracket in an update")
	case u.atCall():
		return u.setCall()
	case u.peek().kind == valueRef:
		v, err := u.value()
		return operandTerm{v}, err
	}
	name, err := u.path()
	return operandTerm{attribute{name}}, err
}

func (u updateParser) setCall() (setExpression, error) {
	switch function := u.peek().text; function {
	case functionIfNotExists:
	case "list_append":
		return nil, u.leftOut(function)
	case functionExists, functionNotExists, functionBeginsWith, "attribute_type", "contains", "size":
		return nil, u.errorf("The function is not allowed in an update expression; function: %s", function)
	default:
		return nil, u.errorf("Invalid function name; function: %s", function)
	}
	u.at += 2 // skip the function's name and opening parenthesis
	first, err := u.setTerm()
	if err != nil {
		return nil, err
	}
	if err = u.expect(","); err != nil {
		return nil, err
	}
	second, err := u.setTerm()
	if err != nil {
		return nil, err
	}
	if err = u.expect(")"); err != nil {
		return nil, err
	}
	return u.ifNotExists(first, second)
}

func (u updateParser) ifNotExists(first, second setExpression) (setExpression, error) {
	term, _ := first.(operandTerm)
	of, isPath := term.of.(attribute)
	if !isPath {
		return nil, u.errorf("Operator or function requires a document path; operator or function: %s", functionIfNotExists)
	}
	if fallback, ok := second.(operandTerm); ok {
		if err := u.checkDistinct(functionIfNotExists, of, fallback.of); err != nil {
			return nil, err
		}
	}
	return ifNotExists{of, second}, nil
}

func (u updateParser) checkApart(a, b string) error {
	if a != b {
		return nil
	}
	return u.errorf("Two document paths overlap with each other; must remove or rewrite one of these paths; path one: "+
		"[%s], path two: [%s]", a, b)
}
