package httpapi

import (
	"net/http"
	"strconv"
	"strings"
)

// Supported page languages.
const (
	English = "en"
	Spanish = "es"
)

// languageOf returns the supported language that the browser prefers (RFC 9110 section 12.5.4).
func languageOf(r *http.Request) string {
	spanish, english := 0.0, 0.0
	for _, wish := range parsePreferences(r.Header.Values("Accept-Language")) {
		switch primary, _, _ := strings.Cut(wish.name, "-"); primary {
		case Spanish:
			spanish = max(spanish, wish.weight)
		case English:
			english = max(english, wish.weight)
		}
	}
	if spanish > english {
		return Spanish
	}
	return English
}

// preference is an option in an Accept-style header, with the option's weight.
type preference struct {
	name   string  // in lower case
	weight float64 // quality value; 0 means not acceptable
}

// parsePreferences parses an Accept-style header (RFC 9110 section 12.4.2). Among options of equal weight, earlier
// options rank slightly higher, as browsers intend.
func parsePreferences(values []string) []preference {
	var all []preference
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, weighted := strings.Cut(part, ";")
		weight := 1.0
		if weighted {
			_, text, _ := strings.Cut(strings.ToLower(parameters), "q=")
			parsed, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || parsed < 0 || parsed > 1 {
				parsed = 0
			}
			weight = parsed
		}
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			all = append(all, preference{name, weight - float64(len(all))*1e-6*weight})
		}
	}
	return all
}

// encodingsOf returns a function that reports whether the client accepts a content encoding (RFC 9110 section 12.5.3).
// A response without an encoding is always acceptable.
func encodingsOf(r *http.Request) func(encoding string) bool {
	all := parsePreferences(r.Header.Values("Accept-Encoding"))
	return func(encoding string) bool {
		others := false
		for _, w := range all {
			switch w.name {
			case encoding:
				return w.weight > 0
			case "*":
				others = w.weight > 0
			}
		}
		return others
	}
}
