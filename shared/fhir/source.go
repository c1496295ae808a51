package fhir

import (
	"io"
	"unicode/utf8"
)

// WriteLine writes the resource as one line of NDJSON, with its origin in meta.source (FHIR R4 resource.html#Meta). The
// rest of the resource is unchanged. Nothing is added if source is empty, the resource already has a source, or its
// meta is duplicated or not an object. The resource is not copied, so JSON must not have changed since the scan.
// WriteLine returns the writer's error.
func (r Resource) WriteLine(w io.Writer, source string) error {
	var added []byte
	if source != "" && r.sourceAt > 0 {
		added = r.sourceMember(source)
	}
	for _, part := range [...][]byte{r.JSON[:r.sourceAt], added, r.JSON[r.sourceAt:], []byte("\n")} {
		if len(part) == 0 {
			continue
		}
		if _, err := w.Write(part); err != nil {
			return err //nolint:wrapcheck // the writer's own
		}
	}
	return nil
}

// sourceMember returns the JSON to insert at sourceAt so that the resource has the given meta.source.
func (r Resource) sourceMember(source string) []byte {
	switch {
	case r.JSON[r.sourceAt-1] != '{': // insert after a member, because the resource has no meta
		return append(appendString([]byte(`,"meta":{"source":`), source), '}')
	case r.JSON[r.sourceAt] == '}': // meta is empty
		return appendString([]byte(`"source":`), source)
	default: // insert before meta's first member
		return append(appendString([]byte(`"source":`), source), ',')
	}
}

// appendString appends text as a JSON string. Invalid UTF-8 is replaced with U+FFFD.
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

// meta parses the meta of the resource that begins at offset start in the compacted copy. A second lastUpdated takes
// precedence, as in most parsers.
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
