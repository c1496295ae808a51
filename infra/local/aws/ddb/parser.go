package ddb

import (
	"fmt"
	"strings"
)

const (
	maxExpressionBytes     = 4096
	maxExpressionOperators = 300
)

type parser struct {
	what      string // expression name for errors, such as "ConditionExpression"
	scope     *scope
	tokens    []token
	at        int
	operators int
}

func (s *scope) parser(what string, source expression) (*parser, error) {
	p := &parser{what: what, scope: s}
	if len(source) > maxExpressionBytes {
		return nil, p.errorf("Expression size has exceeded the maximum allowed size; expression size: %d", len(source))
	}
	var err error
	if p.tokens, err = lex(what, string(source)); err != nil {
		return nil, err
	}
	if p.done() {
		return nil, p.syntaxError()
	}
	return p, nil
}

func (p *parser) errorf(format string, args ...any) error {
	return invalidf("Invalid %s: %s", p.what, fmt.Sprintf(format, args...))
}

func (p *parser) syntaxError() error {
	near := p.tokens[max(0, p.at-1):min(len(p.tokens), p.at+2)]
	texts := make([]string, len(near))
	for i, t := range near {
		texts[i] = t.text
	}
	return p.errorf("Syntax error; token: %q, near: %q", p.peek().text, strings.Join(texts, " "))
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) done() bool { return p.peek().kind == endOfExpression }

// is reports whether the next token is the given symbol or keyword. Keywords are case-insensitive.
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.kind == symbol && t.text == text || t.kind == word && strings.EqualFold(t.text, text)
}

func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(text string) error {
	if !p.accept(text) {
		return p.syntaxError()
	}
	return nil
}

func (p *parser) atCall() bool {
	return p.peek().kind == word && p.tokens[p.at+1] == token{symbol, "("}
}

// countOperator counts an operator, and returns an error if the expression has more than 300.
func (p *parser) countOperator() error {
	if p.operators++; p.operators > maxExpressionOperators {
		return p.errorf("The expression contains too many operators; operator count: %d", p.operators)
	}
	return nil
}

func (p *parser) value() (literal, error) {
	name := p.peek().text
	v, ok := p.scope.values[name]
	if !ok {
		return literal{},
			p.errorf("An expression attribute value used in expression is not defined; attribute value: %s", name)
	}
	p.at++
	p.scope.used[name] = true
	return literal{v}, nil
}

// path reads an attribute name. Paths into maps and lists are not supported, because no caller uses them.
func (p *parser) path() (string, error) {
	name, err := p.attributeName()
	if err == nil && (p.is(".") || p.is("[")) {
		err = p.leftOut("a document path of several elements")
	}
	return name, err
}

// leftOut returns the error for an unsupported part of AWS's expression grammar.
func (p *parser) leftOut(what string) error {
	return p.errorf("%s is not part of the embedded DynamoDB", what)
}

func (p *parser) attributeName() (string, error) {
	t := p.peek()
	switch {
	case t.kind == word && p.scope.reserved[strings.ToUpper(t.text)]:
		return "", p.errorf("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
	case t.kind == word:
		p.at++
		return t.text, nil
	case t.kind == nameRef:
		name, ok := p.scope.names[t.text]
		if !ok {
			return "",
				p.errorf("An expression attribute name used in the document path is not defined; attribute name: %s", t.text)
		}
		p.at++
		p.scope.used[t.text] = true
		return name, nil
	}
	return "", p.syntaxError()
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
