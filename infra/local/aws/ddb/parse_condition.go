package ddb

import (
	"fmt"
	"slices"
)

// phrase is what a part of a condition turned out to be: a condition or, when that is nil, an operand.
type phrase struct {
	condition condition
	operand   operand
	bracketed bool
}

// condition parses a whole condition expression. Precedence, from loose to tight: OR, AND, comparison.
func (s *scope) condition(what string, source expression) (condition, error) {
	p, err := s.parser(what, source)
	if err != nil {
		return nil, err
	}
	parsed, err := p.either()
	if err != nil {
		return nil, err
	}
	if parsed.condition == nil || !p.done() {
		return nil, p.syntaxError()
	}
	return parsed.condition, nil
}

func (p *parser) either() (phrase, error) {
	return p.chain("OR", p.both, func(left, right condition) condition { return disjunction{left, right} })
}

func (p *parser) both() (phrase, error) {
	return p.chain("AND", p.comparison, func(left, right condition) condition { return conjunction{left, right} })
}

func (p *parser) chain(keyword string, next func() (phrase, error),
	join func(left, right condition) condition,
) (phrase, error) {
	left, err := next()
	for err == nil && p.is(keyword) {
		if left.condition == nil {
			return phrase{}, p.syntaxError()
		}
		p.at++
		if err = p.countOperator(); err != nil {
			return phrase{}, err
		}
		var right phrase
		if right, err = next(); err == nil && right.condition == nil {
			err = p.syntaxError()
		}
		if err == nil {
			left = phrase{condition: join(left.condition, right.condition)}
		}
	}
	return left, err
}

func (p *parser) comparison() (phrase, error) {
	if p.is("NOT") {
		return phrase{}, p.leftOut("NOT")
	}
	left, err := p.primary()
	if err != nil || left.condition != nil {
		return left, err
	}
	var found condition
	switch t := p.peek(); {
	case p.accept("BETWEEN"):
		found, err = p.between(left.operand)
	case p.is("IN"):
		err = p.leftOut("IN")
	case t.kind == symbol && slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, t.text):
		p.at++
		found, err = p.compare(left.operand, t.text)
	default:
		return left, nil
	}
	if err != nil {
		return phrase{}, err
	}
	return phrase{condition: found}, p.countOperator()
}

func (p *parser) compare(left operand, operator string) (condition, error) {
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	if operator != "=" && operator != "<>" {
		if err = p.checkOrdered(operator, left, right); err != nil {
			return nil, err
		}
	}
	if err = p.checkDistinct(operator, left, right); err != nil {
		return nil, err
	}
	return comparison{operator, left, right}, nil
}

// checkOrdered refuses literals of types that have no order.
func (p *parser) checkOrdered(operator string, operands ...operand) error {
	for _, o := range operands {
		if l, ok := o.(literal); ok && !l.of.isScalar() {
			return p.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
				operator, l.of.kind)
		}
	}
	return nil
}

func (p *parser) checkDistinct(operator string, first operand, rest ...operand) error {
	a, ok := first.(attribute)
	if !ok {
		return nil
	}
	for _, other := range rest {
		if b, same := other.(attribute); same && a == b {
			return p.errorf("The first operand must be distinct from the remaining operands for this operator or function; "+
				"operator: %s, first operand: [%s]", operator, a.name)
		}
	}
	return nil
}

func (p *parser) between(of operand) (condition, error) {
	low, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err = p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.operand()
	if err != nil {
		return nil, err
	}
	if err = p.checkOrdered("BETWEEN", of, low, high); err != nil {
		return nil, err
	}
	if err = p.checkDistinct("BETWEEN", of, low, high); err != nil {
		return nil, err
	}
	a, okLow := low.(literal)
	b, okHigh := high.(literal)
	if !okLow || !okHigh {
		return between{of, low, high}, nil
	}
	bounds := fmt.Sprintf("lower bound operand: AttributeValue: {%s:%s}, upper bound operand: AttributeValue: {%s:%s}",
		a.of.kind, a.of.text, b.of.kind, b.of.text)
	order, ordered := compare(a.of, b.of)
	if !ordered {
		return nil, p.errorf("The BETWEEN operator requires same data type for lower and upper bounds; %s", bounds)
	}
	if order > 0 {
		return nil,
			p.errorf("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; %s", bounds)
	}
	return between{of, low, high}, nil
}

// operandList reads the rest of "(a, b, c)".
func (p *parser) operandList() ([]operand, error) {
	var list []operand
	for {
		next, err := p.operand()
		if err != nil {
			return nil, err
		}
		list = append(list, next)
		if !p.accept(",") {
			return list, p.expect(")")
		}
	}
}

func (p *parser) operand() (operand, error) {
	found, err := p.primary()
	if err != nil {
		return nil, err
	}
	if found.condition != nil {
		return nil, p.syntaxError()
	}
	return found.operand, nil
}

// primary is a bracketed phrase, a function call, a value or a path.
func (p *parser) primary() (phrase, error) {
	switch {
	case p.accept("("):
		inner, err := p.either()
		if err != nil {
			return phrase{}, err
		}
		if err = p.expect(")"); err != nil {
			return phrase{}, err
		}
		if inner.bracketed {
			return phrase{}, p.errorf("The expression has redundant parentheses;")
		}
		inner.bracketed = true
		return inner, nil
	case p.atCall():
		return p.call()
	case p.peek().kind == valueRef:
		v, err := p.value()
		return phrase{operand: v}, err
	}
	at, err := p.path()
	return phrase{operand: attribute{at}}, err
}

func (p *parser) call() (phrase, error) {
	function := p.peek().text
	wanted := 1
	switch function {
	case functionExists, functionNotExists:
	case functionBeginsWith:
		wanted = 2
	case "attribute_type", "contains", "size":
		return phrase{}, p.leftOut(function)
	case functionIfNotExists, "list_append":
		return phrase{}, p.errorf("The function is not allowed in a condition expression; function: %s", function)
	default:
		return phrase{}, p.errorf("Invalid function name; function: %s", function)
	}
	p.at += 2 // the name and its bracket
	args, err := p.operandList()
	if err != nil {
		return phrase{}, err
	}
	if len(args) != wanted {
		return phrase{}, p.errorf("Incorrect number of operands for operator or function; operator or function: %s, number "+
			"of operands: %d", function, len(args))
	}
	if err = p.checkArguments(function, args); err != nil {
		return phrase{}, err
	}
	return phrase{condition: call{function, args}}, p.countOperator()
}

func (p *parser) checkArguments(function string, args []operand) error {
	if function != functionBeginsWith {
		if _, isPath := args[0].(attribute); !isPath {
			return p.errorf("Operator or function requires a document path; operator or function: %s", function)
		}
		return nil
	}
	for _, arg := range args {
		if l, ok := arg.(literal); ok && l.of.kind != typeString && l.of.kind != typeBinary {
			return p.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
				function, l.of.kind)
		}
	}
	return p.checkDistinct(function, args[0], args[1])
}
