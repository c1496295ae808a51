package contract

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// schema is a compiled JSON Schema. It supports those keywords of draft 7 and of OpenAPI 3.0's dialect that the
// documents use.
type schema struct {
	tests    []test // checks that don't depend on subschemas
	required []string
	members  map[string]*schema
	others   *schema // schema of additional members, or nil
	open     bool    // whether additional members are allowed
	items    *schema
	all      []*schema
	any      []*schema
	one      []*schema // exactly one must match
	when     *schema   // values that match when must match then; all others must match other
	then     *schema
	other    *schema
}

// test describes how a value violates a keyword, or returns "" if the value is valid.
type test func(value any) string

type compiler struct {
	document map[string]any
	made     map[string]*schema
}

func newCompiler(document map[string]any) *compiler {
	return &compiler{document: document, made: map[string]*schema{}}
}

// follow resolves a reference within the document. It returns any other value unchanged.
func (c *compiler) follow(value any) (map[string]any, error) {
	for {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%v is no object", value)
		}
		to, isReference := object["$ref"].(string)
		if !isReference {
			return object, nil
		}
		if len(object) > 1 {
			return nil, fmt.Errorf("$ref to %s has company", to)
		}
		if value = c.lookUp(to); value == nil {
			return nil, fmt.Errorf("%s leads nowhere", to)
		}
	}
}

// lookUp resolves a JSON pointer within the document. lookUp returns nil if the target does not exist.
func (c *compiler) lookUp(pointer string) any {
	var at any = c.document
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "#/"), "/") {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return at
}

func (c *compiler) compile(value any) (*schema, error) {
	object, _ := value.(map[string]any)
	to, isReference := object["$ref"].(string)
	if made := c.made[to]; isReference && made != nil {
		return made, nil
	}
	rules, err := c.follow(value)
	if err != nil {
		return nil, err
	}
	s := &schema{}
	if isReference {
		c.made[to] = s
	}
	for _, keyword := range slices.Sorted(maps.Keys(rules)) {
		if err := c.keyword(s, keyword, rules[keyword]); err != nil {
			return nil, fmt.Errorf("%s: %w", keyword, err)
		}
	}
	return s, nil
}

func (c *compiler) keyword(s *schema, keyword string, rule any) (err error) {
	switch keyword {
	// annotations, which do not constrain a value; x-document refers to the schema of the document at a URL
	case "description", "default", "example", "deprecated", "discriminator", "x-document":
	case "properties":
		s.members, err = c.named(rule)
	case "additionalProperties":
		if open, isBool := rule.(bool); isBool {
			s.open = open
			return nil
		}
		s.others, err = c.compile(rule)
	case "items":
		s.items, err = c.compile(rule)
	case "allOf":
		s.all, err = c.list(rule)
	case "anyOf":
		s.any, err = c.list(rule)
	case "oneOf":
		s.one, err = c.list(rule)
	case "if":
		s.when, err = c.compile(rule)
	case "then":
		s.then, err = c.compile(rule)
	case "else":
		s.other, err = c.compile(rule)
	case "required":
		s.required, err = texts(rule)
	default:
		var found test
		found, err = scalar(keyword, rule)
		s.tests = append(s.tests, found)
	}
	return err
}

func (c *compiler) named(rule any) (map[string]*schema, error) {
	rules, ok := rule.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%v is no object", rule)
	}
	made := make(map[string]*schema, len(rules))
	for name, inner := range rules {
		compiled, err := c.compile(inner)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		made[name] = compiled
	}
	return made, nil
}

func (c *compiler) list(rule any) ([]*schema, error) {
	rules, ok := rule.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is no list", rule)
	}
	made := make([]*schema, 0, len(rules))
	for _, inner := range rules {
		compiled, err := c.compile(inner)
		if err != nil {
			return nil, err
		}
		made = append(made, compiled)
	}
	return made, nil
}

func texts(rule any) ([]string, error) {
	list, _ := rule.([]any)
	all := make([]string, 0, len(list))
	for _, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%v is no text", item)
		}
		all = append(all, text)
	}
	return all, nil
}

// scalar compiles a keyword without subschemas into a test.
func scalar(keyword string, rule any) (test, error) {
	failing := func(holds func(value any) bool) test {
		return func(value any) string {
			if holds(value) {
				return ""
			}
			return fmt.Sprintf("is %v, want %s %v", value, keyword, rule)
		}
	}
	bound := number(rule)
	switch keyword {
	case "type":
		return failing(func(value any) bool {
			return typeOf(value) == rule || rule == "number" &&
				typeOf(value) == "integer"
		}), nil
	case "enum":
		allowed, ok := rule.([]any)
		if !ok {
			return nil, fmt.Errorf("%v is no list", rule)
		}
		return failing(func(value any) bool {
			return slices.ContainsFunc(allowed, func(one any) bool { return same(one, value) })
		}), nil
	case "const":
		return failing(func(value any) bool { return same(rule, value) }), nil
	case "minimum":
		return failing(func(value any) bool { return number(value) >= bound }), nil
	case "minLength":
		return failing(func(value any) bool { return float64(length(value)) >= bound }), nil
	case "maxLength":
		return failing(func(value any) bool { return float64(length(value)) <= bound }), nil
	case "minItems":
		return failing(func(value any) bool { return float64(length(value)) >= bound }), nil
	case "pattern":
		expression, err := regexp.Compile(fmt.Sprint(rule))
		return failing(func(value any) bool { text, ok := value.(string); return ok && expression.MatchString(text) }), err
	case "format":
		valid, known := formats()[fmt.Sprint(rule)]
		if !known {
			return nil, fmt.Errorf("the format %v is not known here", rule)
		}
		return failing(func(value any) bool { text, ok := value.(string); return ok && valid(text) }), nil
	}
	return nil, errors.New("the keyword is not known here")
}
