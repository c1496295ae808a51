package ddb

import (
	"fmt"
	"slices"
)

// phrase is a parsed part of a condition expression. A phrase whose condition is nil is an operand.
type phrase struct {
	condition condition
	operand   operand
	bracketed bool
}

type conditionParser struct{ *parser }

// condition parses a complete condition expression. The precedence, from lowest to highest, is OR, AND, comparison.
func (s *scope) condition(what string, source expression) (condition, error) {
	p, err := s.parser(what, source)
	if err != nil {
		return nil, err
	}
	parsed, err := conditionParser{p}.either()
	if err != nil {
		return nil, err
	}
	if parsed.condition == nil || !p.done() {
		return nil, p.syntaxError()
	}
	return parsed.condition, nil
}

func (c conditionParser) either() (phrase, error) {
	return c.chain("OR", c.both, func(left, right condition) condition { return disjunction{left, right} })
}

func (c conditionParser) both() (phrase, error) {
	return c.chain("AND", c.comparison, func(left, right condition) condition { return conjunction{left, right} })
}

func (c conditionParser) chain(keyword string, next func() (phrase, error),
	join func(left, right condition) condition,
) (phrase, error) {
	left, err := next()
	for err == nil && c.is(keyword) {
		if left.condition == nil {
			return phrase{}, c.syntaxError()
		}
		c.at++
		if err = c.countOperator(); err != nil {
			return phrase{}, err
		}
		var right phrase
		if right, err = next(); err == nil && right.condition == nil {
			err = c.syntaxError()
		}
		if err == nil {
			left = phrase{condition: join(left.condition, right.condition)}
		}
	}
	return left, err
}

func (c conditionParser) comparison() (phrase, error) {
	if c.is("NOT") {
		return phrase{}, c.leftOut("NOT")
	}
	left, err := c.primary()
	if err != nil || left.condition != nil {
		return left, err
	}
	var found condition
	switch t := c.peek(); {
	case c.accept("BETWEEN"):
		found, err = c.between(left.operand)
	case c.is("IN"):
		err = c.leftOut("IN")
	case t.kind == symbol && slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, t.text):
		c.at++
		found, err = c.compare(left.operand, t.text)
	default:
		return left, nil
	}
	if err != nil {
		return phrase{}, err
	}
	return phrase{condition: found}, c.countOperator()
}

func (c conditionParser) compare(left operand, operator string) (condition, error) {
	right, err := c.operand()
	if err != nil {
		return nil, err
	}
	if operator != "=" && operator != "<>" {
		if err = c.checkOrdered(operator, left, right); err != nil {
			return nil, err
		}
	}
	if err = c.checkDistinct(operator, left, right); err != nil {
		return nil, err
	}
	return comparison{operator, left, right}, nil
}

func (c conditionParser) checkOrdered(operator string, operands ...operand) error {
	for _, o := range operands {
		if l, ok := o.(literal); ok && !l.of.isScalar() {
			return c.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
				operator, l.of.kind)
		}
	}
	return nil
}

func (c conditionParser) between(of operand) (condition, error) {
	low, err := c.operand()
	if err != nil {
		return nil, err
	}
	if err = c.expect("AND"); err != nil {
		return nil, err
	}
	high, err := c.operand()
	if err != nil {
		return nil, err
	}
	if err = c.checkOrdered("BETWEEN", of, low, high); err != nil {
		return nil, err
	}
	if err = c.checkDistinct("BETWEEN", of, low, high); err != nil {
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
		return nil, c.errorf("The BETWEEN operator requires same data type for lower and upper bounds; %s", bounds)
	}
	if order > 0 {
		return nil,
			c.errorf("The BETWEEN operator requires upper bound to be greater than or equal to lower bound; %s", bounds)
	}
	return between{of, low, high}, nil
}

// operandList parses a comma-separated list and its closing parenthesis.
func (c conditionParser) operandList() ([]operand, error) {
	var list []operand
	for {
		next, err := c.operand()
		if err != nil {
			return nil, err
		}
		list = append(list, next)
		if !c.accept(",") {
			return list, c.expect(")")
		}
	}
}

func (c conditionParser) operand() (operand, error) {
	found, err := c.primary()
	if err != nil {
		return nil, err
	}
	if found.condition != nil {
		return nil, c.syntaxError()
	}
	return found.operand, nil
}

// primary parses a parenthesised condition, a function call, a value or a path.
func (c conditionParser) primary() (phrase, error) {
	switch {
	case c.accept("("):
		inner, err := c.either()
		if err != nil {
			return phrase{}, err
		}
		if err = c.expect(")"); err != nil {
			return phrase{}, err
		}
		if inner.bracketed {
			return phrase{}, c.errorf("The expression has redundant parentheses;")
		}
		inner.bracketed = true
		return inner, nil
	case c.atCall():
		return c.call()
	case c.peek().kind == valueRef:
		v, err := c.value()
		return phrase{operand: v}, err
	}
	at, err := c.path()
	return phrase{operand: attribute{at}}, err
}

func (c conditionParser) call() (phrase, error) {
	function := c.peek().text
	wanted := 1
	switch function {
	case functionExists, functionNotExists:
	case functionBeginsWith:
		wanted = 2
	case "attribute_type", "contains", "size":
		return phrase{}, c.leftOut(function)
	case functionIfNotExists, "list_append":
		return phrase{}, c.errorf("The function is not allowed in a condition expression; function: %s", function)
	default:
		return phrase{}, c.errorf("Invalid function name; function: %s", function)
	}
	c.at += 2 // skip the function's name and opening parenthesis
	args, err := c.operandList()
	if err != nil {
		return phrase{}, err
	}
	if len(args) != wanted {
		return phrase{}, c.errorf("Incorrect number of operands for operator or function; operator or function: %s, number "+
			"of operands: %d", function, len(args))
	}
	if err = c.checkArguments(function, args); err != nil {
		return phrase{}, err
	}
	return phrase{condition: call{function, args}}, c.countOperator()
}

func (c conditionParser) checkArguments(function string, args []operand) error {
	if function != functionBeginsWith {
		if _, isPath := args[0].(attribute); !isPath {
			return c.errorf("Operator or function requires a document path; operator or function: %s", function)
		}
		return nil
	}
	for _, arg := range args {
		if l, ok := arg.(literal); ok && l.of.kind != typeString && l.of.kind != typeBinary {
			return c.errorf("Incorrect operand type for operator or function; operator or function: %s, operand type: %s",
				function, l.of.kind)
		}
	}
	return c.checkDistinct(function, args[0], args[1])
}
