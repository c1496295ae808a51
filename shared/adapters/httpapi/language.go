package httpapi

import (
	"net/http"
	"strconv"
	"strings"
)

// The languages of our pages.
const (
	English = "en"
	Spanish = "es"
)

// languageOf is that of our languages which the browser's person would rather read (RFC 9110 section 12.5.4).
func languageOf(r *http.Request) string {
	spanish, english := 0.0, 0.0
	for _, wish := range wishes(r.Header.Values("Accept-Language")) {
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

// wish is one of the things that a client would take.
type wish struct {
	name   string  // in lower case
	weight float64 // 0: not at all
}

// wishes reads a header of the Accept family (RFC 9110 section 12.4.2). Of equal weights the earlier one counts a trace
// more, as browsers mean it.
func wishes(values []string) []wish {
	var all []wish
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
			all = append(all, wish{name, weight - float64(len(all))*1e-6*weight})
		}
	}
	return all
}

// encodingsOf tells which encodings of content a client takes (RFC 9110 section 12.5.3). None is always taken.
func encodingsOf(r *http.Request) func(encoding string) bool {
	all := wishes(r.Header.Values("Accept-Encoding"))
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
