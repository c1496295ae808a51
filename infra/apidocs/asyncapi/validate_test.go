package asyncapi_test

import (
	"fmt"
	"maps"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// validator checks values against the part of JSON Schema draft 7 that the document uses. A keyword outside that part is
// an error, so that nothing is believed to hold that was not looked at.
type validator struct {
	document map[string]any
	wrong    []string
}

// problems lists what is wrong with a value, empty when nothing is.
func problems(document map[string]any, schema, value any) []string {
	v := &validator{document: document}
	v.check("", schema, value)
	return v.wrong
}

func (v *validator) addf(at, format string, values ...any) {
	v.wrong = append(v.wrong, at+": "+fmt.Sprintf(format, values...))
}

func (v *validator) check(at string, schema, value any) {
	rules, isObject := schema.(map[string]any)
	if !isObject {
		v.addf(at, "the schema is %v", schema)
		return
	}
	if to, isReference := rules["$ref"].(string); isReference {
		if len(rules) > 1 {
			v.addf(at, "$ref has company")
		}
		v.check(at, lookUp(v.document, to), value)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		v.rule(at, name, rules, value)
	}
}

// holds tells whether a schema is met, without saying why not.
func (v *validator) holds(schema, value any) bool {
	return len(problems(v.document, schema, value)) == 0
}

func (v *validator) rule(at, name string, rules map[string]any, value any) {
	rule := rules[name]
	switch name {
	case "description", "default", "deprecated", "then", "else": // says nothing by itself
	case "type":
		if got := typeOf(value); got != rule {
			v.addf(at, "is of type %s, want %v", got, rule)
		}
	case "const":
		if value != rule {
			v.addf(at, "is %v, want %v", value, rule)
		}
	case "enum":
		if !slices.Contains(rule.([]any), value) {
			v.addf(at, "is %v, want one of %v", value, rule)
		}
	case "allOf":
		for _, part := range rule.([]any) {
			v.check(at, part, value)
		}
	case "if":
		next := "else"
		if v.holds(rule, value) {
			next = "then"
		}
		if rules[next] != nil {
			v.check(at, rules[next], value)
		}
	case "format", "pattern", "minimum":
		v.scalar(at, name, rule, value)
	default:
		v.inner(at, name, rules, value)
	}
}

// inner is about the parts of a value.
func (v *validator) inner(at, name string, rules map[string]any, value any) {
	members, _ := value.(map[string]any)
	items, _ := value.([]any)
	switch name {
	case "required":
		for _, needed := range rules[name].([]any) {
			if _, ok := members[needed.(string)]; !ok {
				v.addf(at, "has no %s", needed)
			}
		}
	case "properties":
		for key, schema := range rules[name].(map[string]any) {
			if inner, ok := members[key]; ok {
				v.check(at+"/"+key, schema, inner)
			}
		}
	case "additionalProperties":
		for key, inner := range members {
			v.check(at+"/"+key, rules[name], inner)
		}
	case "items":
		for i, inner := range items {
			v.check(fmt.Sprint(at, "/", i), rules[name], inner)
		}
	case "minItems":
		if len(items) < rules[name].(int) {
			v.addf(at, "has %d items, want %v", len(items), rules[name])
		}
	default:
		v.addf(at, "there is a keyword %q that this validator does not know", name)
	}
}

func (v *validator) scalar(at, name string, rule, value any) {
	text, _ := value.(string)
	met := true
	switch name {
	case "format":
		met = isOfFormat(rule.(string), text)
	case "pattern":
		met = regexp.MustCompile(rule.(string)).MatchString(text)
	case "minimum":
		met = number(value) >= float64(rule.(int))
	}
	if !met {
		v.addf(at, "is %v, want %s %v", value, name, rule)
	}
}

func isOfFormat(format, text string) bool {
	var err error
	switch format {
	case "uuid":
		_, err = uuid.Parse(text)
		return err == nil && len(text) == 36
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	case "uri":
		var parsed *url.URL
		parsed, err = url.Parse(text)
		return err == nil && parsed.IsAbs() && !strings.ContainsAny(text, " \"<>\\^`{|}") // RFC 3986 appendix A
	case "email":
		_, err = mail.ParseAddress(text)
	default:
		return false
	}
	return err == nil && utf8.ValidString(text)
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

// number reads what YAML has as int and JSON as float64.
func number(value any) float64 {
	switch value := value.(type) {
	case int:
		return float64(value)
	case float64:
		return value
	}
	return math.NaN()
}

// lookUp follows a reference within the document; nil when it leads nowhere.
func lookUp(document map[string]any, reference string) any {
	var at any = document
	for name := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
		inside, isObject := at.(map[string]any)
		if !isObject {
			return nil
		}
		at = inside[name]
	}
	return at
}
