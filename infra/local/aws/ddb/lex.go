package ddb

import "strings"

type tokenKind int

const (
	endOfExpression tokenKind = iota
	word                      // keyword, function or attribute name
	nameRef                   // #name
	valueRef                  // :value
	digits                    // list index
	symbol                    // one of the symbols = <> < <= > >= ( ) [ ] , . + -
)

type token struct {
	kind tokenKind
	text string
}

// lex splits an expression into tokens; what is the expression's name in error messages.
func lex(what, source string) ([]token, error) {
	tokens := make([]token, 0, 16)
	for i := 0; i < len(source); {
		if strings.IndexByte(" \t\r\n", source[i]) >= 0 {
			i++
			continue
		}
		kind, length := nextToken(source[i:])
		if length == 0 {
			return nil, invalidf("Invalid %s: Syntax error; token: %q, near: %q", what, source[i:i+1],
				source[max(0, i-5):min(len(source), i+5)])
		}
		tokens = append(tokens, token{kind, source[i : i+length]})
		i += length
	}
	return append(tokens, token{endOfExpression, "<EOF>"}), nil
}

// nextToken classifies the token at the start of rest. If rest does not start with a token, length is 0.
func nextToken(rest string) (kind tokenKind, length int) {
	first := rest[0]
	switch {
	case isLetter(first):
		return word, 1 + wordLength(rest[1:])
	case isDigit(first):
		return digits, 1 + wordLength(rest[1:])
	case first == '#' || first == ':':
		length = wordLength(rest[1:])
		if length == 0 {
			return symbol, 0
		}
		if first == '#' {
			return nameRef, 1 + length
		}
		return valueRef, 1 + length
	}
	for _, pair := range []string{"<>", "<=", ">="} {
		if strings.HasPrefix(rest, pair) {
			return symbol, 2
		}
	}
	if strings.IndexByte("()[],.=<>+-", first) >= 0 {
		return symbol, 1
	}
	return symbol, 0
}

func wordLength(text string) int {
	for i := range len(text) {
		if c := text[i]; !isLetter(c) && !isDigit(c) && c != '_' {
			return i
		}
	}
	return len(text)
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
