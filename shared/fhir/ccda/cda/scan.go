package cda

import (
	"encoding/xml"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner tokenizes a UTF-8 document (Extensible Markup Language 1.0) for a builder. It accepts unambiguous markup that
// is not well-formed: unknown entities are left unchanged, attributes may lack quotes or a value, and comments may
// contain hyphens. Document type declarations are skipped, and their entities are never expanded.
type scanner struct {
	text string
	at   int
	to   *builder
}

func (s *scanner) scan() error {
	for s.at < len(s.text) {
		if s.text[s.at] != '<' {
			if err := s.charData(); err != nil {
				return err
			}
			continue
		}
		if err := s.markup(); err != nil {
			return err
		}
	}
	return nil
}

// charData reads text up to the next markup.
func (s *scanner) charData() error {
	rest := s.text[s.at:]
	if end := strings.IndexByte(rest, '<'); end >= 0 {
		rest = rest[:end]
	}
	s.at += len(rest)
	return s.to.add(rest, true, s.at)
}

// markup reads a tag, comment or other markup that begins with "<".
func (s *scanner) markup() error {
	rest := s.text[s.at:]
	for _, kind := range [...]struct{ begin, end string }{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
		if !strings.HasPrefix(rest, kind.begin) {
			continue
		}
		inside := rest[len(kind.begin):]
		end := strings.Index(inside, kind.end)
		if end < 0 {
			return errXML
		}
		s.at += len(kind.begin) + end + len(kind.end)
		if kind.begin == "<![CDATA[" {
			return s.to.add(inside[:end], false, s.at)
		}
		return nil
	}
	switch {
	case strings.HasPrefix(rest, "<!"):
		return s.declaration()
	case strings.HasPrefix(rest, "</"):
		return s.endTag()
	}
	return s.startTag()
}

// declaration skips a document type declaration, including quoted strings, comments and nested declarations.
func (s *scanner) declaration() error {
	depth, quote := 0, byte(0)
	for ; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.HasPrefix(s.text[s.at:], "<!--"):
			end := strings.Index(s.text[s.at:], "-->")
			if end < 0 {
				return errXML
			}
			s.at += end + len("-->") - 1
		case c == '<':
			depth++
		case c == '>':
			if depth--; depth == 0 {
				s.at++
				return nil
			}
		}
	}
	return errXML
}

func (s *scanner) endTag() error {
	from := s.at
	s.at += len("</")
	name, ok := s.name()
	if s.space(); !ok || s.at == len(s.text) || s.text[s.at] != '>' {
		return errXML
	}
	s.at++
	return s.to.end(name, from, s.at)
}

func (s *scanner) startTag() error {
	s.at++
	name, ok := s.name()
	if !ok {
		return errXML
	}
	if err := s.to.start(name); err != nil {
		return err
	}
	for {
		s.space()
		switch rest := s.text[s.at:]; {
		case len(rest) == 0:
			return errXML
		case rest[0] == '>':
			s.at++
			return s.to.started(s.at)
		case rest[0] == '/':
			if len(rest) < 2 || rest[1] != '>' {
				return errXML
			}
			s.at += len("/>")
			if err := s.to.started(s.at); err != nil {
				return err
			}
			return s.to.end(name, s.at, s.at)
		}
		if err := s.attribute(); err != nil {
			return err
		}
	}
}

func (s *scanner) attribute() error {
	from := s.at
	local, ok := s.name()
	if !ok {
		return errXML
	}
	full := s.text[from:s.at]
	s.space()
	if s.at == len(s.text) || s.text[s.at] != '=' {
		s.to.set(full, local, local)
		return nil
	}
	s.at++
	s.space()
	rest := s.text[s.at:]
	if len(rest) == 0 {
		return errXML
	}
	if rest[0] == '"' || rest[0] == '\'' {
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return errXML
		}
		s.at += end + len(`""`)
		s.to.set(full, local, rest[1:1+end])
		return nil
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r == '>' || r == '/' || unicode.IsSpace(r) })
	if end < 0 {
		return errXML
	}
	s.at += end
	s.to.set(full, local, rest[:end])
	return nil
}

func (s *scanner) space() {
	for s.at < len(s.text) && isSpace(s.text[s.at]) {
		s.at++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// name reads a name and returns it without its namespace prefix.
func (s *scanner) name() (local string, ok bool) {
	from := s.at
	for s.at < len(s.text) {
		c := s.text[s.at]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s.text[s.at:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				break
			}
			s.at += size
			continue
		}
		if !isNameByte(c) {
			break
		}
		s.at++
	}
	local = s.text[from:s.at]
	if len(local) == 0 || local[0] >= '0' && local[0] <= '9' || local[0] == '-' || local[0] == '.' {
		return "", false
	}
	if prefix, after, found := strings.Cut(local, ":"); found && len(prefix) > 0 && len(after) > 0 {
		return after, strings.IndexByte(after, ':') < 0
	}
	return local, true
}

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == ':' || c == '-' || c == '.'
}

// unescaped replaces entities and character references with characters, and normalizes line endings.
func unescaped(text string) string {
	if strings.IndexByte(text, '&') < 0 && strings.IndexByte(text, '\r') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		end := strings.IndexAny(text, "&\r")
		if end < 0 {
			break
		}
		out = append(out, text[:end]...)
		if text[end] == '\r' {
			out = append(out, '\n')
			text = strings.TrimPrefix(text[end+1:], "\n")
			continue
		}
		text = text[end:]
		size := min(len(text), maxEntity)
		semicolon := strings.IndexByte(text[:size], ';')
		character := ""
		if semicolon > 0 {
			character = entity(text[1:semicolon])
		}
		if character == "" {
			out, text = append(out, '&'), text[1:]
			continue
		}
		out, text = append(out, character...), text[semicolon+1:]
	}
	return string(append(out, text...))
}

// maxEntity limits the length of an entity name. The longest entity of HTML has 10 characters.
const maxEntity = 32

// entity returns the character for an entity's name or number, or "" for an unknown entity. Characters that XML forbids
// become spaces.
func entity(name string) string {
	digits, isNumber := strings.CutPrefix(name, "#")
	if !isNumber {
		switch name {
		case "lt":
			return "<"
		case "gt":
			return ">"
		case "amp":
			return "&"
		case "apos":
			return "'"
		case "quot":
			return `"`
		}
		return xml.HTMLEntity[name]
	}
	base := 10
	if hex, isHex := strings.CutPrefix(digits, "x"); isHex {
		digits, base = hex, 16
	}
	code, err := strconv.ParseUint(digits, base, 32)
	switch {
	case err != nil || code > unicode.MaxRune:
		return ""
	case code < ' ' && code != '\t' && code != '\n' && code != '\r', code == 0xFFFE, code == 0xFFFF:
		return " "
	}
	return string(rune(code))
}
