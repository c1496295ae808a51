package corpus

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
)

var variable = regexp.MustCompile(`\$\{([a-zA-Z][a-zA-Z0-9]*)\}`)

// Expand replaces variables and runs generators in v, at any depth. It returns an error if a variable is not set.
func Expand(v any, variables map[string]string) (any, error) {
	switch v := v.(type) {
	case string:
		return ExpandText(v, variables)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			var err error
			if out[i], err = Expand(element, variables); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return expandMapping(v, variables)
	default:
		return v, nil
	}
}

func expandMapping(v map[string]any, variables map[string]string) (any, error) {
	if n, ok := v["$repeat"].(int); ok {
		return repeated(v, n), nil
	}
	if parts, ok := v["$join"].([]any); ok {
		return joined(parts, variables)
	}
	if n, ok := v["$list"].(int); ok {
		return listed(v["of"], n, variables)
	}
	out := make(map[string]any, len(v))
	for key, element := range v {
		name, err := ExpandText(key, variables)
		if err != nil {
			return nil, err
		}
		if out[name], err = Expand(element, variables); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ExpandText replaces variables in text. It returns an error if a variable is not set.
func ExpandText(text string, variables map[string]string) (string, error) {
	var missing error
	out := variable.ReplaceAllStringFunc(text, func(found string) string {
		value, ok := variables[found[2:len(found)-1]]
		if !ok {
			missing = fmt.Errorf("nothing was saved as %s", found)
		}
		return value
	})
	return out, missing
}

func repeated(generator map[string]any, times int) string {
	unit := "x"
	if of, ok := generator["of"].(string); ok {
		unit = of
	}
	return strings.Repeat(unit, times)
}

func joined(parts []any, variables map[string]string) (string, error) {
	var out strings.Builder
	for _, part := range parts {
		text, err := Expand(part, variables)
		if err != nil {
			return "", err
		}
		fmt.Fprint(&out, text)
	}
	return out.String(), nil
}

func listed(of any, length int, variables map[string]string) (any, error) {
	out := make([]any, length)
	own := maps.Clone(variables)
	for i := range out {
		own["n"] = strconv.Itoa(i)
		var err error
		if out[i], err = Expand(of, own); err != nil {
			return nil, err
		}
	}
	return out, nil
}
