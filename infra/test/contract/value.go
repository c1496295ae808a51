package contract

import (
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// violations lists all of value's violations of the schema. Each violation starts with its path in the value.
func (s *schema) violations(at string, value any) []string {
	var found []string
	for _, test := range s.tests {
		if what := test(value); what != "" {
			found = append(found, at+": "+what)
		}
	}
	for _, part := range s.all {
		found = append(found, part.violations(at, value)...)
	}
	matches := func(part *schema) bool { return len(part.violations(at, value)) == 0 }
	if len(s.any) > 0 && !slices.ContainsFunc(s.any, matches) {
		found = append(found, fmt.Sprintf("%s: is %v, which meets none of anyOf", at, value))
	}
	if n := count(s.one, matches); n != 1 && len(s.one) > 0 {
		found = append(found, fmt.Sprintf("%s: is %v, which meets %d of oneOf", at, value, n))
	}
	if branch := s.branch(value); branch != nil {
		found = append(found, branch.violations(at, value)...)
	}
	if object, isObject := value.(map[string]any); isObject {
		found = append(found, s.wrongMembers(at, object)...)
	}
	if list, isList := value.([]any); isList && s.items != nil {
		for i, item := range list {
			found = append(found, s.items.violations(fmt.Sprintf("%s[%d]", at, i), item)...)
		}
	}
	return found
}

func count(parts []*schema, matches func(part *schema) bool) int {
	n := 0
	for _, part := range parts {
		if matches(part) {
			n++
		}
	}
	return n
}

// branch returns the subschema that the "if" keyword selects for value, or nil if there is none.
func (s *schema) branch(value any) *schema {
	switch {
	case s.when == nil:
		return nil
	case len(s.when.violations("", value)) == 0:
		return s.then
	default:
		return s.other
	}
}

func (s *schema) wrongMembers(at string, object map[string]any) []string {
	var found []string
	for _, name := range s.required {
		if _, ok := object[name]; !ok {
			found = append(found, at+": has no "+name)
		}
	}
	for name, value := range object {
		switch inner := s.members[name]; {
		case inner != nil:
			found = append(found, inner.violations(join(at, name), value)...)
		case s.others != nil:
			found = append(found, s.others.violations(join(at, name), value)...)
		}
	}
	return found
}

// parts returns the schemas and all subschemas that apply to the same value.
func parts(of ...*schema) []*schema {
	var all []*schema
	for _, s := range of {
		if s != nil {
			all = append(append(all, s), parts(slices.Concat(s.all, s.any, s.one, []*schema{s.then, s.other})...)...)
		}
	}
	return all
}

// shape combines the rules of several schemas for an object's members and a list's items.
type shape struct {
	members map[string][]*schema
	others  []*schema
	items   []*schema
	open    bool
}

func shapeOf(schemas []*schema) shape {
	together := shape{members: map[string][]*schema{}}
	for _, s := range parts(schemas...) {
		for name, inner := range s.members {
			together.members[name] = append(together.members[name], inner)
		}
		together.open = together.open || s.open
		if s.others != nil {
			together.others = append(together.others, s.others)
		}
		if s.items != nil {
			together.items = append(together.items, s.items)
		}
	}
	if len(together.members) == 0 && len(together.others) == 0 {
		together.open = true // none of the schemas restricts members
	}
	return together
}

// undeclared returns the members of value that no schema declares, and calls note for each declared member.
func undeclared(at string, value any, schemas []*schema, note func(at string)) []string {
	together := shapeOf(schemas)
	var found []string
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			switch named := together.members[name]; {
			case named != nil:
				note(join(at, name))
				found = append(found, undeclared(join(at, name), inner, named, note)...)
			case len(together.others) > 0:
				note(join(at, "*"))
				found = append(found, undeclared(join(at, "*"), inner, together.others, note)...)
			case !together.open:
				found = append(found, at+": "+name+" is not declared")
			}
		}
	case []any:
		for _, item := range value {
			found = append(found, undeclared(at+"[]", item, together.items, note)...)
		}
	}
	return found
}

// declared calls note for every member that the schemas declare.
func declared(at string, schemas []*schema, note func(at string)) {
	together := shapeOf(schemas)
	for name, inner := range together.members {
		note(join(at, name))
		declared(join(at, name), inner, note)
	}
	if len(together.others) > 0 {
		note(join(at, "*"))
		declared(join(at, "*"), together.others, note)
	}
	if len(together.items) > 0 {
		declared(at+"[]", together.items, note)
	}
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func formats() map[string]func(text string) bool {
	return map[string]func(string) bool{
		"uuid": func(text string) bool {
			_, err := uuid.Parse(text)
			return err == nil && len(text) == len("00000000-0000-0000-0000-000000000000")
		},
		"date-time": func(text string) bool {
			_, err := time.Parse(time.RFC3339, text)
			return err == nil
		},
		"uri": func(text string) bool {
			parsed, err := url.Parse(text)
			// A URI can't contain the characters listed below (RFC 3986, appendix A).
			return err == nil && parsed.IsAbs() && utf8.ValidString(text) && !strings.ContainsAny(text, " \"<>\\^`{|}")
		},
		"email": func(text string) bool {
			_, err := mail.ParseAddress(text)
			return err == nil
		},
	}
}

func typeOf(value any) string {
	switch value := value.(type) {
	case string:
		return "string"
	case int, float64:
		if number(value) == math.Trunc(number(value)) {
			return "integer"
		}
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}

// number converts a number to float64. YAML decodes integers as int, whereas JSON decodes all numbers as float64.
func number(value any) float64 {
	switch value := value.(type) {
	case int:
		return float64(value)
	case float64:
		return value
	}
	return math.NaN()
}

func same(a, b any) bool {
	if typeOf(a) == "integer" || typeOf(a) == "number" {
		return number(a) == number(b)
	}
	return a == b
}

func length(value any) int {
	switch value := value.(type) {
	case string:
		return utf8.RuneCountInString(value)
	case []any:
		return len(value)
	}
	return -1
}
