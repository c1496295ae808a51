package fhirpath

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenString
	tokenNumber
	tokenSymbol
	tokenVariable // $this
	tokenConstant // %name
)

type token struct {
	kind   tokenKind
	text   string
	at     int  // byte offset
	quoted bool // a name in backticks, which is never a keyword
}

// scan splits source into tokens.
func scan(source string) ([]token, error) {
	var tokens []token
	for at := 0; ; {
		for at < len(source) && strings.ContainsRune(" \t\r\n", rune(source[at])) {
			at++
		}
		if at == len(source) {
			return append(tokens, token{kind: tokenEnd, text: "the end", at: at, quoted: false}), nil
		}
		t, length, err := scanToken(source[at:])
		if err != nil {
			return nil, fmt.Errorf("at %d: %w", at+1, err)
		}
		t.at = at
		tokens = append(tokens, t)
		at += length
	}
}

func scanToken(rest string) (token, int, error) {
	switch first := rest[0]; {
	case first == '\'' || first == '`':
		text, length, err := scanQuoted(rest)
		if first == '`' {
			return token{kind: tokenName, text: text, at: 0, quoted: true}, length, err
		}
		return token{kind: tokenString, text: text, at: 0, quoted: false}, length, err
	case first == '$' || first == '%':
		name := identifier(rest[1:])
		if name == "" {
			return token{}, 0, fmt.Errorf("a name must follow %q", first)
		}
		kind := tokenVariable
		if first == '%' {
			kind = tokenConstant
		}
		return token{kind: kind, text: name, at: 0, quoted: false}, 1 + len(name), nil
	case digit(first):
		text := numeral(rest)
		return token{kind: tokenNumber, text: text, at: 0, quoted: false}, len(text), nil
	}
	if name := identifier(rest); name != "" {
		return token{kind: tokenName, text: name, at: 0, quoted: false}, len(name), nil
	}
	for _, symbol := range []string{"!=", "<=", ">=", "!~"} {
		if strings.HasPrefix(rest, symbol) {
			return token{kind: tokenSymbol, text: symbol, at: 0, quoted: false}, len(symbol), nil
		}
	}
	if strings.ContainsRune("().,[]=<>+-*/|&~{}", rune(rest[0])) {
		return token{kind: tokenSymbol, text: rest[:1], at: 0, quoted: false}, 1, nil
	}
	if rest[0] == '@' {
		return token{}, 0, errors.New("date and time literals aren't supported; use a constant")
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return token{}, 0, fmt.Errorf("unexpected character %q", r)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// identifier returns the name at the start of text, or an empty string.
func identifier(text string) string {
	for i := range len(text) {
		c := text[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || !digit(c)) {
			return text[:i]
		}
	}
	return text
}

// numeral returns the integer or decimal at the start of text. A point without a digit after it belongs to a path.
func numeral(text string) string {
	end := 0
	for end < len(text) && digit(text[end]) {
		end++
	}
	if end+1 < len(text) && text[end] == '.' && digit(text[end+1]) {
		for end++; end < len(text) && digit(text[end]); {
			end++
		}
	}
	return text[:end]
}

// escapes maps the characters after a backslash to their values.
var escapes = map[byte]string{
	'\'': "'", '"': `"`, '`': "`", '\\': `\`, '/': "/", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t",
}

// scanQuoted returns the text between the quotes at the start of source, without escapes, and its length in source.
func scanQuoted(source string) (text string, length int, err error) {
	var out strings.Builder
	for i := 1; i < len(source); i++ {
		switch c := source[i]; {
		case c == source[0]:
			return out.String(), i + 1, nil
		case c != '\\':
			out.WriteByte(c)
		case i+1 < len(source) && escapes[source[i+1]] != "":
			i++
			out.WriteString(escapes[source[i]])
		case i+5 < len(source) && source[i+1] == 'u':
			r, err := strconv.ParseUint(source[i+2:i+6], 16, 16)
			if err != nil {
				return "", 0, fmt.Errorf("%q isn't an escape", source[i:i+6])
			}
			out.WriteRune(rune(r))
			i += 5
		default:
			return "", 0, errors.New("unknown escape after a backslash")
		}
	}
	return "", 0, errors.New("a quote isn't closed")
}
