package fhir

import (
	"slices"
	"unicode/utf8"
)

// AppendSourcedLine appends the resource to dst as one line of NDJSON that says in meta.source where it came from
// (FHIR R4 resource.html#Meta). Nothing else is changed. The line is that of AppendLine when the resource names a
// source of its own, and when its meta stands twice or is no object. It needs JSON as it was scanned.
func (r Resource) AppendSourcedLine(dst []byte, source string) []byte {
	if r.sourceAt == 0 {
		return r.AppendLine(dst)
	}
	before, after := r.JSON[:r.sourceAt], r.JSON[r.sourceAt:]
	dst = slices.Grow(dst, len(r.JSON)+len(source)+len(`,"meta":{"source":""}`)+1)
	dst = append(dst, before...)
	switch {
	case before[len(before)-1] != '{': // behind a member: there is no meta
		dst = append(appendString(append(dst, `,"meta":{"source":`...), source), '}')
	case after[0] == '}': // in an empty meta
		dst = appendString(append(dst, `"source":`...), source)
	default: // in front of meta's first member
		dst = append(appendString(append(dst, `"source":`...), source), ',')
	}
	return append(append(dst, after...), '\n')
}

// appendString appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		default:
			dst = utf8.AppendRune(dst, c)
		}
	}
	return append(dst, '"')
}

// meta reads the meta of the resource that begins at start of the compact copy. The value that counts of a
// lastUpdated that stands twice is the last one, as for most readers.
func (s *scanner) meta(depth int, name word, start int, found *Resource) error {
	if s.peek() != '{' {
		return s.collect(depth, name, nil, found)
	}
	inside := s.end + 1 - start
	sourced := false
	err := s.object(depth, func(inner word) (err error) {
		switch string(inner.text()) {
		case "source":
			sourced = true
		case "lastUpdated":
			found.LastUpdated, err = s.stringOr(depth + 1)
			return err
		}
		return s.collect(depth+1, inner, nil, found)
	})
	if !sourced {
		found.sourceAt = inside
	}
	return err
}

// subject reads a reference to whom the resource is about, or a list of them, of which the first literal one counts,
// and adds what collect adds.
func (s *scanner) subject(depth int, name word, found *Resource) error {
	switch s.peek() {
	case '{':
		return s.object(depth, func(inner word) error {
			literal, known := s.peek() == '"', len(found.References)
			err := s.collect(depth+1, inner, nil, found)
			// A string that added a reference is the member called reference.
			if literal && len(found.References) > known && found.Subject == "" {
				found.Subject = found.References[known]
			}
			return err
		})
	case '[':
		return s.array(depth, func() error { return s.subject(depth+1, name, found) })
	default:
		return s.collect(depth, name, nil, found)
	}
}
