package fhirpath

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxLength = 4096 // bytes of an expression
	maxDepth  = 64   // nested expressions
)

// Expression is a parsed expression.
type Expression struct{ root term }

// Parse parses source, which may refer to the constants by name.
func Parse(source string, constants map[string]Node) (*Expression, error) {
	if len(source) > maxLength {
		return nil, fmt.Errorf("the expression has more than %d bytes", maxLength)
	}
	tokens, err := scan(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, constants: constants, depth: 0}
	root, err := p.operation(0)
	if err != nil {
		return nil, err
	}
	if p.peek().kind != tokenEnd {
		return nil, p.unexpected()
	}
	return &Expression{root}, nil
}

type parser struct {
	tokens    []token // the rest
	constants map[string]Node
	depth     int
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != tokenEnd {
		p.tokens = p.tokens[1:]
	}
	return t
}

// symbol consumes the symbol and reports whether it was there.
func (p *parser) symbol(text string) bool {
	if t := p.peek(); t.kind != tokenSymbol || t.text != text {
		return false
	}
	p.next()
	return true
}

// require consumes the symbol, or returns an error.
func (p *parser) require(text string) error {
	if !p.symbol(text) {
		return fmt.Errorf("at %d: expected %q, found %s", p.peek().at+1, text, p.peek().text)
	}
	return nil
}

// unsupported contains FHIRPath's operators outside the subset.
var unsupported = []string{"|", "&", "~", "!~", "is", "as", "in", "contains", "xor", "implies", "div", "mod"}

func (p *parser) unexpected() error {
	t := p.peek()
	if t.kind != tokenString && !t.quoted && slices.Contains(unsupported, t.text) {
		return fmt.Errorf("at %d: SQL on FHIR's shareable views don't include the operator %s", t.at+1, t.text)
	}
	return fmt.Errorf("at %d: unexpected %s", t.at+1, t.text)
}

// precedence lists the binary operators from loose to tight (FHIRPath 2.0.0, 6.8).
var precedence = [][]string{{"or"}, {"and"}, {"=", "!="}, {"<", "<=", ">", ">="}, {"+", "-"}, {"*", "/"}}

var errDeep = errors.New("the expression is nested too deeply")

// operation parses binary operators from the level on.
func (p *parser) operation(level int) (term, error) {
	if level == len(precedence) {
		return p.polarity()
	}
	if p.depth++; p.depth > maxDepth*len(precedence) {
		return nil, errDeep
	}
	defer func() { p.depth-- }()
	left, err := p.operation(level + 1)
	if err != nil {
		return nil, err
	}
	for count := 0; ; count++ {
		t := p.peek()
		word := t.kind == tokenName && !t.quoted || t.kind == tokenSymbol
		if !word || !slices.Contains(precedence[level], t.text) {
			return left, nil
		}
		if count == maxDepth {
			return nil, errDeep
		}
		p.next()
		right, err := p.operation(level + 1)
		if err != nil {
			return nil, err
		}
		left = binary{t.text, left, right}
	}
}

// polarity parses a term with an optional sign.
func (p *parser) polarity() (term, error) {
	negative := false
	for p.peek().text == "-" || p.peek().text == "+" {
		if t := p.peek(); t.kind != tokenSymbol {
			break
		}
		negative = p.next().text == "-" != negative
	}
	operand, err := p.path()
	if err != nil || !negative {
		return operand, err
	}
	return binary{"-", literal{number("0", "integer")[0]}, operand}, nil
}

// path parses a term and the invocations and indexers after it.
func (p *parser) path() (term, error) {
	t, err := p.term()
	if err != nil {
		return nil, err
	}
	for {
		switch {
		case p.symbol("."):
			name := p.next()
			if name.kind != tokenName {
				return nil, fmt.Errorf("at %d: a name must follow the point", name.at+1)
			}
			if t, err = p.invocation(t, name); err != nil {
				return nil, err
			}
		case p.symbol("["):
			index, err := p.operation(0)
			if err != nil {
				return nil, err
			}
			if err := p.require("]"); err != nil {
				return nil, err
			}
			t = indexer{t, index}
		default:
			return t, nil
		}
	}
}

// term parses a literal, constant, variable, name or parenthesis.
func (p *parser) term() (term, error) {
	switch t := p.peek(); t.kind {
	case tokenString:
		p.next()
		return literal{Literal(t.text, "string")}, nil
	case tokenNumber:
		p.next()
		return p.numeral(t)
	case tokenVariable:
		p.next()
		if t.text != "this" {
			return nil, fmt.Errorf("at %d: SQL on FHIR's shareable views don't include $%s", t.at+1, t.text)
		}
		return this{}, nil
	case tokenConstant:
		p.next()
		return p.constant(t)
	case tokenName:
		if !t.quoted && (t.text == "true" || t.text == "false") {
			p.next()
			return literal{Literal(t.text == "true", "boolean")}, nil
		}
		p.next()
		return p.invocation(nil, t)
	case tokenSymbol:
		if !p.symbol("(") {
			return nil, p.unexpected()
		}
		inner, err := p.operation(0)
		if err != nil {
			return nil, err
		}
		return inner, p.require(")")
	case tokenEnd:
	}
	return nil, p.unexpected()
}

func (p *parser) numeral(t token) (term, error) {
	if _, err := rational(t.text); err != nil {
		return nil, fmt.Errorf("at %d: %w", t.at+1, err)
	}
	if next := p.peek(); next.kind == tokenString {
		return nil, fmt.Errorf("at %d: SQL on FHIR's shareable views don't include quantities", t.at+1)
	}
	if strings.Contains(t.text, ".") {
		return literal{number(t.text, "decimal")[0]}, nil
	}
	return literal{number(t.text, "integer")[0]}, nil
}

func (p *parser) constant(t token) (term, error) {
	switch t.text {
	case "resource":
		return resource{}, nil
	case "context":
		return focus{}, nil
	case "rowIndex":
		return rowIndex{}, nil
	}
	value, ok := p.constants[t.text]
	if !ok {
		return nil, fmt.Errorf("at %d: the view has no constant %s", t.at+1, t.text)
	}
	return literal{value}, nil
}

// invocation parses a function's arguments, or returns the step to an element. A nil input stands for $this.
func (p *parser) invocation(input term, name token) (term, error) {
	if !p.symbol("(") {
		return step{input, name.text}, nil
	}
	f, ok := functions[name.text]
	if !ok {
		return nil, fmt.Errorf("at %d: SQL on FHIR's shareable views don't include the function %s", name.at+1, name.text)
	}
	if input == nil {
		input = this{}
	}
	c := call{f, name.text, input, nil, ""}
	if f.takesType {
		return p.typed(c)
	}
	for !p.symbol(")") {
		if len(c.arguments) > 0 {
			if err := p.require(","); err != nil {
				return nil, err
			}
		}
		argument, err := p.operation(0)
		if err != nil {
			return nil, err
		}
		c.arguments = append(c.arguments, argument)
	}
	if n := len(c.arguments); n < f.min || n > f.max {
		return nil, fmt.Errorf("at %d: %s has %d arguments", name.at+1, name.text, n)
	}
	return c, nil
}

// typed parses the type specifier of a call, which may have the prefix FHIR.
func (p *parser) typed(c call) (term, error) {
	if c.function.min == 0 && p.symbol(")") {
		return c, nil
	}
	name := p.next()
	if name.kind == tokenName && name.text == "FHIR" && p.symbol(".") {
		name = p.next()
	}
	if name.kind != tokenName {
		return nil, fmt.Errorf("at %d: %s needs the name of a type", name.at+1, c.name)
	}
	var known bool
	if c.kind, known = typeName(name.text); !known {
		return nil, fmt.Errorf("at %d: FHIR has no type %s", name.at+1, name.text)
	}
	return c, p.require(")")
}
