package ddb

import (
	"slices"
	"strings"
)

const (
	actionSet    = "SET"
	actionRemove = "REMOVE"
	actionAdd    = "ADD"
	actionDelete = "DELETE"

	functionIfNotExists = "if_not_exists"
	functionListAppend  = "list_append"
)

// action is one clause of an UpdateExpression; SET has an expression, ADD and DELETE have an operand, REMOVE has none.
type action struct {
	kind    string
	at      path
	set     setExpression
	operand value
}

// update parses an UpdateExpression: the four sections in any order, each at most once. The actions come sorted by
// path, since elements set beyond the end of a list are appended in the order of their positions.
func (s *scope) update(source expression) ([]action, error) {
	p, err := s.parser("UpdateExpression", source)
	if err != nil {
		return nil, err
	}
	var actions []action
	seen := map[string]bool{}
	for !p.done() {
		section := strings.ToUpper(p.peek().text)
		if !slices.Contains([]string{actionSet, actionRemove, actionAdd, actionDelete}, section) {
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
			if err = p.checkApart(earlier.at, later.at); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(actions, func(a, b action) int { return comparePaths(a.at, b.at) })
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
	if out.at, err = p.path(); err != nil {
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
	case actionAdd, actionDelete:
		out.operand, err = p.setOperand(section)
	}
	return out, err
}

// setOperand is the value of ADD (a number or a set) and of DELETE (a set).
func (p *parser) setOperand(section string) (value, error) {
	if p.peek().kind != valueRef {
		return value{}, p.syntaxError()
	}
	found, err := p.value()
	if err != nil {
		return value{}, err
	}
	if v := found.of; v.isSet() || section == actionAdd && v.kind == typeNumber {
		return v, nil
	}
	return value{}, p.errorf("Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
		section, operandName(found.of.kind), section)
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
				return nil, p.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s", operator, v.of.kind)
			}
		}
	}
	return sum{left, right, operator == "-"}, nil
}

func (p *parser) setTerm() (setExpression, error) {
	switch {
	case p.accept("("):
		start := p.at
		inner, err := p.setExpression()
		if err != nil {
			return nil, err
		}
		if err = p.expect(")"); err != nil {
			return nil, err
		}
		if p.isBracketed(start, p.at-1) {
			return nil, p.errorf("The expression has redundant parentheses;")
		}
		return inner, nil
	case p.atCall():
		return p.setCall()
	case p.peek().kind == valueRef:
		v, err := p.value()
		return operandTerm{v}, err
	}
	at, err := p.path()
	return operandTerm{attribute{at}}, err
}

// isBracketed says whether the tokens from start to end, where one bracket opens, close it only at their end.
func (p *parser) isBracketed(start, end int) bool {
	depth := 0
	for i, t := range p.tokens[start:end] {
		switch t {
		case token{symbol, "("}:
			depth++
		case token{symbol, ")"}:
			depth--
		}
		if depth == 0 {
			return i > 0 && i == end-start-1 && p.tokens[start] == token{symbol, "("}
		}
	}
	return false
}

func (p *parser) setCall() (setExpression, error) {
	function := p.peek().text
	switch function {
	case functionIfNotExists, functionListAppend:
	case functionExists, functionNotExists, functionType, functionBeginsWith, functionContains, functionSize:
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
	if function == functionListAppend {
		return listAppend{first, second}, p.checkLists(first, second)
	}
	return p.ifNotExists(first, second)
}

func (p *parser) ifNotExists(first, second setExpression) (setExpression, error) {
	term, _ := first.(operandTerm)
	of, isPath := term.of.(attribute)
	if !isPath {
		return nil, p.errorf("Operator or function requires a document path; operator or function: %s", functionIfNotExists)
	}
	switch fallback := second.(type) {
	case listAppend:
		return nil, p.errorf("The function is not allowed to be used this way in an expression; function: %s", functionListAppend)
	case operandTerm:
		if err := p.checkDistinct(functionIfNotExists, of, fallback.of); err != nil {
			return nil, err
		}
	}
	return ifNotExists{of.at, second}, nil
}

func (p *parser) checkLists(terms ...setExpression) error {
	for _, term := range terms {
		if t, ok := term.(operandTerm); ok {
			if v, isLiteral := t.of.(literal); isLiteral && v.of.kind != typeList {
				return p.errorf("Incorrect operand type for operator or function; operator or function: list_append, operand type: %s", v.of.kind)
			}
		}
	}
	return nil
}
