package listing

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// scanner splits a JSON text into entries without parsing them, so that it can skip a long or malformed entry in
// bounded memory. The entries don't have to be valid JSON.
type scanner struct {
	from  *bufio.Reader
	value []byte
}

// entries calls entry for each element of a top-level array. For a top-level object, entries calls entry for each
// element of the arrays that isList selects, and calls member for each remaining member that is short enough to keep.
// If an entry is too large or too deeply nested, reason is set instead of raw.
func (s *scanner) entries(isList func(name string) bool, member func(name string, raw []byte),
	entry func(raw []byte, reason Reason) error,
) error {
	switch first, err := s.token(); {
	case err != nil:
		return err
	case first == '[':
		err = s.array(entry)
		if err != nil {
			return err
		}
	case first == '{':
		if err := s.object(isList, member, entry); err != nil {
			return err
		}
	default:
		return refused(NotFormat)
	}
	if _, err := s.token(); !errors.Is(err, io.ErrUnexpectedEOF) {
		if err == nil {
			return refused(NotFormat)
		}
		return err
	}
	return nil
}

func (s *scanner) object(isList func(string) bool, member func(string, []byte),
	entry func([]byte, Reason) error,
) error {
	wasList := false
	for isFirst := true; ; isFirst = false {
		name, c, err := s.name(isFirst)
		if err != nil || c == '}' {
			return cut(err)
		}
		if c == '[' && isList(name) {
			if wasList { // ambiguous, because either list could be read
				return refused(TwoValues)
			}
			wasList = true
			if err = s.array(entry); err != nil {
				return err
			}
			continue
		}
		raw, reason, err := s.scan(c, maxMember)
		if err != nil {
			return cut(err)
		}
		if reason == "" {
			member(name, raw)
		}
	}
}

// name returns the name of the next member and the first byte of its value, or } after the last member.
func (s *scanner) name(isFirst bool) (name string, value byte, err error) {
	c, err := s.separated(isFirst, '}')
	if err != nil || c == '}' {
		return "", c, err
	}
	if c != '"' {
		return "", 0, refused(NotFormat)
	}
	raw, reason, err := s.scan(c, maxMember)
	if err != nil {
		return "", 0, err
	}
	name = string(bytes.Trim(raw, `"`))
	if c, err = s.token(); err == nil && (c != ':' || reason != "") {
		err = refused(NotFormat)
	}
	if err != nil {
		return "", 0, err
	}
	value, err = s.token()
	return name, value, err
}

func (s *scanner) array(entry func(raw []byte, reason Reason) error) error {
	for first := true; ; first = false {
		c, err := s.separated(first, ']')
		if err != nil || c == ']' {
			return cut(err)
		}
		raw, reason, err := s.scan(c, maxEntry)
		if err != nil {
			return cut(err)
		}
		if err := entry(raw, reason); err != nil {
			return err
		}
	}
}

// separated returns the first byte of the next element, or end after the last element.
func (s *scanner) separated(isFirst bool, end byte) (byte, error) {
	c, err := s.token()
	if err != nil || isFirst || c == end {
		return c, err
	}
	if c != ',' {
		return 0, refused(NotFormat)
	}
	return s.token()
}

// token returns the next byte that is not white space, or io.ErrUnexpectedEOF at the end of the text.
func (s *scanner) token() (byte, error) {
	for {
		c, err := s.from.ReadByte()
		if errors.Is(err, io.EOF) {
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c, err //nolint:wrapcheck // the list's own, which cut reads
		}
	}
}

// scan returns the JSON value whose first byte is first. The result is valid until the next call to scan.
func (s *scanner) scan(first byte, longest int) (raw []byte, reason Reason, err error) {
	s.value = append(s.value[:0], first)
	var at nesting
	for c := first; ; {
		if at.pass(c) {
			break
		}
		if c, err = s.from.ReadByte(); err != nil {
			return nil, "", err //nolint:wrapcheck // the list's own, which cut reads
		}
		if at.depth == 0 && !at.isText && (c == ',' || c == '}' || c == ']') { // ends a number, true, false or null
			err = s.from.UnreadByte()
			break
		}
		if len(s.value) < longest {
			s.value = append(s.value, c)
		} else {
			reason = TooLarge
		}
	}
	if reason == "" && at.deepest > maxDepth {
		reason = TooDeep
	}
	return bytes.TrimSpace(s.value), reason, err
}

// nesting is a scanner's position inside a JSON value.
type nesting struct {
	depth, deepest    int
	isText, isEscaped bool
}

// pass processes a byte and reports whether it ends a top-level string, object or array.
func (n *nesting) pass(c byte) (isEnd bool) {
	if n.isText {
		switch {
		case n.isEscaped:
			n.isEscaped = false
		case c == '\\':
			n.isEscaped = true
		case c == '"':
			n.isText = false
			return n.depth == 0
		}
		return false
	}
	switch c {
	case '"':
		n.isText = true
	case '{', '[':
		n.depth++
		n.deepest = max(n.deepest, n.depth)
	case '}', ']':
		n.depth--
		return n.depth <= 0
	}
	return false
}

// cut returns the error for a list that ends prematurely. It returns any other error unchanged.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refused(Cut)
	}
	return err
}

// mostMembers is the maximum number of members in an entry's JSON object. FHIR objects have about two dozen members.
const mostMembers = 200

// ambiguous returns a reason if an object in a JSON text contains the same member twice, ignoring case, or too many
// members. Parsers differ in which duplicate they use (RFC 8259, section 4). For any other text, even invalid JSON,
// ambiguous returns "".
func ambiguous(raw []byte) Reason {
	type level struct {
		isObject bool
		names    int // index of the object's first member name
	}
	var names [][]byte
	levels := make([]level, 0, 8)
	for at := 0; at < len(raw); at++ {
		switch raw[at] {
		case '{', '[':
			levels = append(levels, level{raw[at] == '{', len(names)})
		case '}', ']':
			if len(levels) == 0 {
				return ""
			}
			names = names[:levels[len(levels)-1].names]
			levels = levels[:len(levels)-1]
		case '"':
			end := endOfText(raw, at)
			rest := bytes.TrimLeft(raw[min(end+1, len(raw)):], " \t\r\n")
			if len(levels) > 0 && levels[len(levels)-1].isObject && len(rest) > 0 && rest[0] == ':' {
				name := raw[at+1 : min(end, len(raw))]
				own := names[levels[len(levels)-1].names:]
				if len(own) == mostMembers {
					return TooMany
				}
				if slices.ContainsFunc(own, func(other []byte) bool { return bytes.EqualFold(other, name) }) {
					return TwoValues
				}
				names = append(names, name)
			}
			at = end
		}
	}
	return ""
}

// endOfText returns the position of the quote that closes the JSON string starting at position at. It returns the end
// of the text if the string is not closed.
func endOfText(raw []byte, at int) int {
	for at++; at < len(raw) && raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at
}
