package ucum

import "strings"

// expression is the result of parsing a unit.
type expression struct {
	valid    bool
	doubtful bool // whether senders often use this valid unit to mean another
}

// parse parses an expression according to the UCUM 2.2 grammar:
//
//	main      = "/" term | term
//	term      = component { ("." | "/") component }
//	component = symbol [exponent] [annotation] | annotation | factor [annotation] | "(" term ")" [annotation]
//
// The published grammar allows no annotations on factors or on terms in parentheses, but UCUM's own examples have them.
func parse(text string) expression {
	p := parser{rest: strings.TrimPrefix(text, "/")}
	p.term(0)
	return expression{valid: !p.failed && p.rest == "", doubtful: p.doubtful}
}

type parser struct {
	rest             string
	failed, doubtful bool
}

// maxDepth limits the nesting of parentheses.
const maxDepth = 16

func (p *parser) term(depth int) {
	for wasFactor := false; ; {
		isFactor := p.component(depth)
		p.doubtful = p.doubtful || wasFactor && isFactor // Senders write 1.73 as a decimal number.
		if p.failed || p.rest == "" || p.rest[0] != '.' && p.rest[0] != '/' {
			return
		}
		wasFactor = isFactor && p.rest[0] == '.'
		p.rest = p.rest[1:]
	}
}

// component parses one component and reports whether it is a number.
func (p *parser) component(depth int) (isFactor bool) {
	switch {
	case strings.HasPrefix(p.rest, "{"):
		p.annotation()
		return false
	case strings.HasPrefix(p.rest, "("):
		p.rest = p.rest[1:]
		if depth == maxDepth {
			p.failed = true
			return false
		}
		p.term(depth + 1)
		if !strings.HasPrefix(p.rest, ")") {
			p.failed = true
			return false
		}
		p.rest = p.rest[1:]
	default:
		end := symbolEnd(p.rest)
		symbol := p.rest[:end]
		p.rest = p.rest[end:]
		if isFactor = isNumber(symbol); !isFactor {
			p.symbol(symbol)
		}
	}
	if strings.HasPrefix(p.rest, "{") {
		p.annotation()
	}
	return isFactor
}

// annotation parses text in braces: printable ASCII, except braces and spaces (UCUM, section 6).
func (p *parser) annotation() {
	end := strings.IndexByte(p.rest, '}')
	if end < 0 {
		p.failed = true
		return
	}
	for _, b := range []byte(p.rest[1:end]) {
		if b <= ' ' || b > '~' || b == '{' {
			p.failed = true
		}
	}
	p.rest = p.rest[end+1:]
}

// symbol validates a unit symbol with its prefix and exponent.
func (p *parser) symbol(text string) {
	base, _ := cutExponent(text)
	if isAtom, _ := atomOf(base); isAtom {
		p.doubtful = p.doubtful || isDoubtful("", base)
		return
	}
	for length := 1; length <= 2 && length < len(base); length++ {
		prefix, atom := base[:length], base[length:]
		if _, isMetric := atomOf(atom); isMetric && isPrefix(prefix) {
			p.doubtful = p.doubtful || isDoubtful(prefix, atom)
			return
		}
	}
	p.failed = true
}

// symbolEnd returns the length of the symbol at the start of text. A symbol may contain square brackets.
func symbolEnd(text string) int {
	bracket := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case !bracket && strings.IndexByte("./(){}", c) >= 0:
			return i
		}
	}
	return len(text)
}

func isNumber(symbol string) bool {
	return symbol != "" && symbol[0] != '0' && strings.Trim(symbol, "0123456789") == ""
}

// cutExponent splits a symbol into its base and its exponent, which may be signed.
func cutExponent(symbol string) (base, exponent string) {
	end := len(strings.TrimRight(symbol, "0123456789"))
	if end > 0 && end < len(symbol) && (symbol[end-1] == '+' || symbol[end-1] == '-') {
		end--
	}
	return symbol[:end], symbol[end:]
}

// isDoubtful reports whether senders use a valid symbol, given as a prefix and an atom, to mean a different unit, such
// as MG for mg, Gm for gram, K for thousands or F for degrees.
func isDoubtful(prefix, atom string) bool {
	if prefix == "" {
		return unmeant.Of(atom) != ""
	}
	if atom == "u" || unmeant.Of(prefix+atom) != "" { // Senders write mu/L to mean mU/L, not millidaltons per litre.
		return true
	}
	isLarge := strings.IndexByte("YZEPTGM", prefix[0]) >= 0
	isCapital := atom[0] >= 'A' && atom[0] <= 'Z' && strings.ToUpper(atom) == atom
	return isLarge && (isCapital || small.Of(atom) != "")
}
