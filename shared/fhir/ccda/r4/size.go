package r4

import (
	"encoding/base64"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Size returns an upper bound for the JSON size, in bytes, of a resource or a part of one. Size stops counting when the
// size exceeds most, so measuring never costs more than writing the allowed output.
func Size(v any, most int) int {
	s := sizer{most: most}
	s.value(reflect.ValueOf(v))
	return s.size
}

// originalElement is the JSON that surrounds the text in an Original.
const originalElement = `{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/originalText","valueString":}]}`

type sizer struct{ size, most int }

func (s *sizer) value(v reflect.Value) {
	if s.size > s.most {
		return
	}
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		s.size += len("{}")
		s.members(v)
	case (kind == reflect.Pointer || kind == reflect.Interface || kind == reflect.Slice) && v.IsNil():
		s.size += len("null")
	case kind == reflect.Pointer || kind == reflect.Interface:
		s.value(v.Elem())
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		s.size += len(`""`) + base64.StdEncoding.EncodedLen(v.Len())
	case kind == reflect.Slice:
		s.size += len("[]")
		for i := 0; i < v.Len() && s.size <= s.most; i++ {
			s.value(v.Index(i))
			s.size += len(",")
		}
	case kind == reflect.String:
		s.text(v.String())
		if _, isOriginal := reflect.TypeAssert[Original](v); isOriginal {
			s.size += len(originalElement)
		}
	default: // a number or a boolean
		s.size += len("-9223372036854775808")
	}
}

// members adds the size of an object's members, including the members of an embedded struct.
func (s *sizer) members(v reflect.Value) {
	for field, member := range v.Fields() {
		tag := field.Tag.Get("json")
		switch {
		case field.Anonymous:
			s.members(member)
		case tag == "-":
			if large, ok := reflect.TypeAssert[*Large](member); ok && large != nil {
				s.size += large.Encoded
			}
		case member.IsZero() && strings.HasSuffix(tag, ",omitempty"):
		default:
			s.size += len(tag) + len(`"":,`) // Tag options are counted too, so the size can only be overestimated.
			s.value(member)
		}
	}
}

// text adds the size of text as a JSON string, including quotes and escape sequences.
func (s *sizer) text(text string) {
	s.size += len(`""`)
	for _, r := range text {
		switch {
		case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError:
			s.size += len(`\u0000`)
		case r == '"', r == '\\':
			s.size += len(`\"`)
		default:
			s.size += utf8.RuneLen(r)
		}
	}
}
