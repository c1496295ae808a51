package corpus

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Match compares a response with an expanded expectation. It returns a description of the first difference, including
// its path, or "" if they match.
func Match(want, got any) string { return match("", want, got) }

func match(at string, want, got any) string {
	switch want := want.(type) {
	case string:
		return matchText(at, want, got)
	case map[string]any:
		return matchMapping(at, want, got)
	case []any:
		return matchList(at, want, aslist(got))
	}
	if !reflect.DeepEqual(plain(want), plain(got)) {
		return differs(at, want, got)
	}
	return ""
}

func differs(at string, want, got any) string {
	return fmt.Sprintf("%s is %s, want %s", strings.TrimPrefix(at, "."), shown(got), shown(want))
}

// shown shortens a large value to keep reports readable.
func shown(v any) string {
	text := fmt.Sprintf("%v", v)
	if len(text) > 300 {
		return text[:300] + "... (" + strconv.Itoa(len(text)) + " bytes)"
	}
	return text
}

func matchText(at, want string, got any) string {
	var ok bool
	switch {
	case want == "<any>":
		ok = got != nil
	case want == "<absent>":
		ok = got == nil
	case want == "<text>":
		text, isText := got.(string)
		ok = isText && text != ""
	case want == "<number>":
		_, err := strconv.ParseFloat(fmt.Sprint(got), 64)
		ok = err == nil
	case strings.HasPrefix(want, "<re:"):
		pattern, err := regexp.Compile("^(?:" + strings.TrimSuffix(strings.TrimPrefix(want, "<re:"), ">") + ")$")
		ok = err == nil && got != nil && pattern.MatchString(fmt.Sprint(got))
	default:
		ok = got != nil && want == fmt.Sprint(got)
	}
	if !ok {
		return differs(at, want, got)
	}
	return ""
}

func matchMapping(at string, want map[string]any, got any) string {
	if set, ok := want["$set"].([]any); ok {
		if n := len(aslist(got)); n != len(set) {
			return differs(at, fmt.Sprintf("%d elements", len(set)), fmt.Sprintf("%d elements: %v", n, got))
		}
		return matchSome(at, set, aslist(got))
	}
	if some, ok := want["$has"].([]any); ok {
		return matchSome(at, some, aslist(got))
	}
	if count, ok := want["$count"].(int); ok {
		if n := len(aslist(got)); n != count {
			return differs(at, fmt.Sprintf("%d elements", count), fmt.Sprintf("%d elements: %v", n, got))
		}
		return ""
	}
	members, ok := got.(map[string]any)
	if !ok && got != nil {
		return differs(at, want, got)
	}
	for name, element := range want {
		if difference := match(at+"."+name, element, members[name]); difference != "" {
			return difference
		}
	}
	return ""
}

func matchList(at string, want, got []any) string {
	if len(want) != len(got) {
		return differs(at, fmt.Sprintf("%d elements", len(want)), fmt.Sprintf("%d elements: %v", len(got), got))
	}
	for i, element := range want {
		if difference := match(at+"."+strconv.Itoa(i), element, got[i]); difference != "" {
			return difference
		}
	}
	return ""
}

// matchSome matches each expected element with the first unused element of the response that matches it.
func matchSome(at string, want, got []any) string {
	left := slices.Clone(got)
	for _, element := range want {
		i := slices.IndexFunc(left, func(candidate any) bool { return match(at, element, candidate) == "" })
		if i < 0 {
			return fmt.Sprintf("%s lacks %s among %s", strings.TrimPrefix(at, "."), shown(element), shown(left))
		}
		left = slices.Delete(left, i, i+1)
	}
	return ""
}

// aslist wraps a single value in a list, because XML does not distinguish an element from a list of one element.
func aslist(v any) []any {
	if v == nil {
		return nil
	}
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

// plain converts numbers and booleans from different decoders to comparable values.
func plain(v any) any {
	switch n := v.(type) {
	case int:
		return float64(n)
	case string:
		if f, err := strconv.ParseFloat(n, 64); err == nil {
			return f
		}
		if b, err := strconv.ParseBool(n); err == nil {
			return b
		}
	}
	return v
}

// Find returns the value at a path in a response, such as "Messages.0.Body". It returns nil if the path does not exist.
func Find(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		if i, err := strconv.Atoi(name); err == nil {
			list := aslist(v)
			if i >= len(list) {
				return nil
			}
			v = list[i]
			continue
		}
		members, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = members[name]
	}
	return v
}
