// Package itemjson splits the JSON of DynamoDB items into attributes in place, without decoding unused attributes.
// Items make up most of the embedded AWS's input, and encoding/json would rescan an item once per nested custom
// decoder. The package supports only the compact form that SDKs write. Callers must pass any other form, such as JSON
// with spaces or escapes, to encoding/json, which also validates it.
package itemjson

import "bytes"

// Each calls f with the name and JSON of each of an object's fields, in order, and reports whether the object could be
// split. Names must be printable ASCII without escapes, and there must be no whitespace between tokens. Each may call f
// even if it returns false. The slices passed to f alias object.
func Each(object []byte, f func(name, content []byte)) bool {
	rest, ok := bytes.CutPrefix(object, []byte("{"))
	if !ok {
		return false
	}
	if string(rest) == "}" {
		return true
	}
	for {
		name, tail, ok := plainString(rest)
		if !ok || len(tail) == 0 || tail[0] != ':' {
			return false
		}
		end := endOf(tail[1:])
		if end <= 0 || end >= len(tail)-1 {
			return false
		}
		f(name, tail[1:1+end])
		if rest = tail[1+end:]; rest[0] != ',' {
			return string(rest) == "}"
		}
		rest = rest[1:]
	}
}

// Scalar parses a value whose only member is a scalar, such as {"S":"text"}. For {"BOOL":true}, content is the text
// true. If the value is not a scalar, or its text has escapes or non-ASCII characters, ok is false.
func Scalar(value []byte) (kind, content []byte, ok bool) {
	members := 0
	ok = Each(value, func(name, of []byte) {
		members++
		kind, content = name, of
	})
	if !ok || members != 1 {
		return nil, nil, false
	}
	if string(content) == "true" || string(content) == "false" {
		return kind, content, true
	}
	text, rest, ok := plainString(content)
	return kind, text, ok && len(rest) == 0
}

// plainString parses a string of printable ASCII without escapes.
func plainString(from []byte) (text, rest []byte, ok bool) {
	if len(from) == 0 || from[0] != '"' {
		return nil, nil, false
	}
	for i, c := range from[1:] {
		switch {
		case c == '"':
			return from[1 : 1+i], from[2+i:], true
		case c < ' ' || c > '~' || c == '\\':
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// endOf returns the length of the value at the start of from, or 0 if the value is incomplete.
func endOf(from []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(from); i++ {
		switch c := from[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']' || c == ',') && depth == 0:
			return i
		case c == '}' || c == ']':
			depth--
		}
	}
	return 0
}
