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

// action is one clause of an UpdateExpression; SET has an expression, ADD has a number, REMOVE has neither.
type action struct {
	kind      string
	attribute string
	set       setExpression
	operand   value
}

// update parses an UpdateExpression: the sections in any order, each at most once.
func (s *scope) update(source expression) ([]action, error) {
	p, err := s.parser("UpdateExpression", source)
	if err != nil {
		return nil, err
	}
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

func (p *parser) section(section string, actions []action) ([]action, error) {
	for {
		next, err := p.action(section)
		if err != nil {
			return nil, err
		}
		actions = append(actions, next)
		if !p.accept(",") {
			return actions, nil
		}
	}
}

func (p *parser) action(section string) (action, error) {
	out := action{kind: section}
	var err error
	if out.attribute, err = p.path(); err != nil {
		return action{}, err
	}
	if err = p.countOperator(); err != nil {
		return action{}, err
	}
	switch section {
	case actionSet:
		if err = p.expect("="); err != nil {
			return action{}, err
		}
		out.set, err = p.setExpression()
	case actionAdd:
		out.operand, err = p.addend()
	}
	return out, err
}

// addend is the number that ADD adds.
func (p *parser) addend() (value, error) {
	if p.peek().kind != valueRef {
		return value{}, p.syntaxError()
	}
	found, err := p.value()
	switch v := found.of; {
	case err != nil:
		return value{}, err
	case v.isSet():
		return value{}, p.leftOut("ADD of a set")
	case v.kind != typeNumber:
		return value{}, p.errorf("Incorrect operand type for operator or function; operator: ADD, operand type: %s, "+
			"typeSet: ALLOWED_FOR_ADD_OPERAND", operandName(v.kind))
	default:
		return v, nil
	}
}

func (p *parser) setExpression() (setExpression, error) {
	left, err := p.setTerm()
	if err != nil || !p.is("+") && !p.is("-") {
		return left, err
	}
	operator := p.peek().text
	p.at++
	if err = p.countOperator(); err != nil {
		return nil, err
	}
	right, err := p.setTerm()
	if err != nil {
		return nil, err
	}
	for _, term := range []setExpression{left, right} {
		if l, ok := term.(operandTerm); ok {
			if v, isLiteral := l.of.(literal); isLiteral && v.of.kind != typeNumber {
				return nil, p.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
					operator, v.of.kind)
			}
		}
	}
	return sum{left, right, operator == "-"}, nil
}

func (p *parser) setTerm() (setExpression, error) {
	switch {
	case p.is("("):
		return nil, p.leftOut("a bracket in an update")
	case p.atCall():
		return p.setCall()
	case p.peek().kind == valueRef:
		v, err := p.value()
		return operandTerm{v}, err
	}
	name, err := p.path()
	return operandTerm{attribute{name}}, err
}

func (p *parser) setCall() (setExpression, error) {
	switch function := p.peek().text; function {
	case functionIfNotExists:
	case "list_append":
		return nil, p.leftOut(function)
	case functionExists, functionNotExists, functionBeginsWith, "attribute_type", "contains", "size":
		return nil, p.errorf("The function is not allowed in an update expression; function: %s", function)
	default:
		return nil, p.errorf("Invalid function name; function: %s", function)
	}
	p.at += 2 // the name and its bracket
	first, err := p.setTerm()
	if err != nil {
		return nil, err
	}
	if err = p.expect(","); err != nil {
		return nil, err
	}
	second, err := p.setTerm()
	if err != nil {
		return nil, err
	}
	if err = p.expect(")"); err != nil {
		return nil, err
	}
	return p.ifNotExists(first, second)
}

func (p *parser) ifNotExists(first, second setExpression) (setExpression, error) {
	term, _ := first.(operandTerm)
	of, isPath := term.of.(attribute)
	if !isPath {
		return nil, p.errorf("Operator or function requires a document path; operator or function: %s", functionIfNotExists)
	}
	if fallback, ok := second.(operandTerm); ok {
		if err := p.checkDistinct(functionIfNotExists, of, fallback.of); err != nil {
			return nil, err
		}
	}
	return ifNotExists{of, second}, nil
}
