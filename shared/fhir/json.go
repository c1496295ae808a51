package fhir

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// scanner reads a JSON document (RFC 8259) once, from start to end, and compacts it in place. buf[:end] holds the
// retained bytes. end never overtakes pos, because compacting only drops white space. Unlike encoding/json, it rejects
// invalid UTF-8 and nesting deeper than maxDepth.
type scanner struct {
	buf []byte
	pos int // position of the next byte to read
	end int // end of the compacted copy in buf
}

// word holds the raw text between the quotes of a JSON string.
type word struct {
	raw     []byte
	escaped bool // whether the string contains a backslash
}

// text returns the unescaped string, or nil if the string is longer than maxWord. If there are no escape sequences, the
// result is a slice of the buffer.
func (w word) text() []byte { return w.upTo(maxWord) }

// upTo is like text, but accepts strings of up to limit bytes before unescaping.
func (w word) upTo(limit int) []byte {
	if len(w.raw) > limit {
		return nil
	}
	if !w.escaped {
		return w.raw
	}
	var decoded string
	quoted := append(append([]byte{'"'}, w.raw...), '"')
	if json.Unmarshal(quoted, &decoded) != nil {
		return nil // unreachable, because the scanner has validated every escape
	}
	return []byte(decoded)
}

// document parses the entire buffer as one value. The function read must consume the value.
func (s *scanner) document(read func() error) error {
	if len(s.buf) > MaxPage {
		return errSize
	}
	s.space()
	if err := read(); err != nil {
		return err
	}
	s.space()
	if s.pos != len(s.buf) {
		return errSyntax
	}
	return nil
}

// object parses an object at the given depth. It calls member with each member's name when the scanner has reached the
// value. The function member must consume the value.
func (s *scanner) object(depth int, member func(name word) error) error {
	if err := s.open('{', depth); err != nil {
		return err
	}
	if s.closed('}') {
		return nil
	}
	for {
		s.space()
		name, err := s.string()
		if err != nil {
			return err
		}
		s.space()
		if s.peek() != ':' {
			return errSyntax
		}
		s.keep()
		s.space()
		if err := member(name); err != nil {
			return err
		}
		if s.closed('}') {
			return nil
		}
		if s.peek() != ',' {
			return errSyntax
		}
		s.keep()
	}
}

// array parses an array at the given depth. It calls element for each element of the array. The function element must
// consume the element.
func (s *scanner) array(depth int, element func() error) error {
	if err := s.open('[', depth); err != nil {
		return err
	}
	if s.closed(']') {
		return nil
	}
	for {
		s.space()
		if err := element(); err != nil {
			return err
		}
		if s.closed(']') {
			return nil
		}
		if s.peek() != ',' {
			return errSyntax
		}
		s.keep()
	}
}

// skip parses any value and ignores it.
func (s *scanner) skip(depth int) error {
	switch s.peek() {
	case '{':
		return s.object(depth, func(word) error { return s.skip(depth + 1) })
	case '[':
		return s.array(depth, func() error { return s.skip(depth + 1) })
	case '"':
		_, err := s.string()
		return err
	default:
		return s.scalar()
	}
}

// string parses a string.
func (s *scanner) string() (word, error) {
	if s.peek() != '"' {
		return word{}, errSyntax
	}
	start, escaped, seen := s.pos, false, byte(0)
	for i := start + 1; i < len(s.buf); {
		plain, wide := plainSize(s.buf[i:])
		i, seen = i+plain, seen|wide
		if i == len(s.buf) {
			break
		}
		c := s.buf[i]
		switch {
		case c == '"':
			raw := s.take(i + 1)
			raw = raw[1 : len(raw)-1]
			if seen >= utf8.RuneSelf && !utf8.Valid(raw) {
				return word{}, errSyntax
			}
			return word{raw: raw, escaped: escaped}, nil
		case c == '\\':
			size := escapeSize(s.buf[i:])
			if size == 0 {
				return word{}, errSyntax
			}
			escaped = true
			i += size
		case c < ' ':
			return word{}, errSyntax
		default:
			seen |= c
			i++
		}
	}
	return word{}, errSyntax
}

// plainSize returns the length of a prefix of text that contains no closing quote, escape or control character. It
// examines eight bytes at a time, so it may stop up to seven bytes before the end of text. The highest bit of wide is
// set if the highest bit of any byte in the prefix is set.
func plainSize(text []byte) (size int, wide byte) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; size+8 <= len(text); size += 8 {
		eight := binary.LittleEndian.Uint64(text[size:])
		quote, escape := eight^('"'*ones), eight^('\\'*ones)
		stop := ((quote-ones)&^quote | (escape-ones)&^escape | (eight-' '*ones)&^eight) & highs
		if stop != 0 { // Only the lowest set bit is reliable.
			keep := bits.TrailingZeros64(stop) / 8
			if eight&highs&(1<<(8*keep)-1) != 0 {
				wide = utf8.RuneSelf
			}
			return size + keep, wide
		}
		if eight&highs != 0 {
			wide = utf8.RuneSelf
		}
	}
	return size, wide
}

// escapeSize returns the length of the escape sequence at the start of text, or 0 if there is none.
func escapeSize(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) < 6 {
			return 0
		}
		for _, c := range text[2:6] {
			if !isDigit(c) && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// scalar parses a number, true, false or null.
func (s *scanner) scalar() error {
	for _, literal := range [...]string{"true", "false", "null"} {
		if end := s.pos + len(literal); end <= len(s.buf) && string(s.buf[s.pos:end]) == literal {
			s.take(end)
			return nil
		}
	}
	size := numberSize(s.buf[s.pos:])
	if size == 0 {
		return errSyntax
	}
	s.take(s.pos + size)
	return nil
}

// numberSize returns the length of the number at the start of text, or 0 if there is none.
func numberSize(text []byte) int {
	i := 0
	if i < len(text) && text[i] == '-' {
		i++
	}
	whole := digits(text[i:])
	if whole == 0 || whole > 1 && text[i] == '0' {
		return 0
	}
	i += whole
	if i < len(text) && text[i] == '.' {
		fraction := digits(text[i+1:])
		if fraction == 0 {
			return 0
		}
		i += 1 + fraction
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := digits(text[i:])
		if exponent == 0 {
			return 0
		}
		i += exponent
	}
	return i
}

func digits(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

// peek returns the next byte, or 0 at the end of the document. Valid JSON contains no zero byte.
func (s *scanner) peek() byte {
	if s.pos < len(s.buf) {
		return s.buf[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	pos := s.pos
	for pos < len(s.buf) && isSpace(s.buf[pos]) {
		pos++
	}
	s.pos = pos
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// keep appends the next byte to the compacted copy.
func (s *scanner) keep() {
	s.buf[s.end] = s.buf[s.pos]
	s.pos++
	s.end++
}

// take appends all bytes before position until to the compacted copy and returns the appended bytes.
func (s *scanner) take(until int) []byte {
	from := s.end
	if from == s.pos { // No white space has been dropped so far.
		s.pos, s.end = until, until
		return s.buf[from:until]
	}
	s.end += copy(s.buf[s.end:], s.buf[s.pos:until])
	s.pos = until
	return s.buf[from:s.end]
}

// open consumes the opening bracket of an array or object.
func (s *scanner) open(bracket byte, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	if s.peek() != bracket {
		return errSyntax
	}
	s.keep()
	return nil
}

// closed reports whether the next byte is the closing bracket, and if so consumes it.
func (s *scanner) closed(bracket byte) bool {
	s.space()
	if s.peek() != bracket {
		return false
	}
	s.keep()
	return true
}
