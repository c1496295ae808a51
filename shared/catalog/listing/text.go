package listing

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain converts a string to a single line of valid UTF-8 with single spaces. It removes control characters,
// bidirectional controls (Unicode TR 36, section 2.5) and byte order marks. isWhole is false if the string was not
// valid UTF-8 or contained such characters, except byte order marks.
func plain(text string) (_ string, isWhole bool) {
	isWhole = utf8.ValidString(text)
	clean := strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\r', c == '\t', unicode.IsSpace(c):
			return ' '
		case c == utf8.RuneError, unicode.IsControl(c), c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069, c == 0x200e,
			c == 0x200f, c == 0xfeff:
			isWhole = isWhole && c == 0xfeff
			return -1
		}
		return c
	}, text)
	return strings.Join(strings.Fields(clean), " "), isWhole
}

// text cleans an entry's string. It returns "" if the string is too long.
func (r *Report) text(key, value string, longest int) string {
	if len(value) > longest*utf8.UTFMax {
		r.problem(TooLong, key)
		return ""
	}
	clean, isWhole := plain(value)
	if !isWhole {
		r.problem(BadText, key)
	}
	if utf8.RuneCountInString(clean) > longest {
		r.problem(TooLong, key)
		return ""
	}
	return clean
}

// link returns a URL for display, or "" if the URL is invalid. Embedded images (data:) are omitted but not reported.
func (r *Report) link(key, value string) string {
	value = strings.TrimSpace(value)
	if value == "" || strings.HasPrefix(value, "data:") {
		return ""
	}
	if !isWeb(value, true) {
		r.problem(BadLink, key)
		return ""
	}
	return value
}

// isWeb reports whether a string is an absolute http or https URL without user information. A query or fragment is
// allowed only if mayAsk is true.
func isWeb(address string, mayAsk bool) bool {
	if len(address) > maxAddress || strings.ContainsFunc(address,
		func(c rune) bool { return c <= ' ' || c == 0x7f || c == utf8.RuneError }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return false
	}
	return mayAsk || u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// server returns a FHIR server's URL and reports whether it is valid.
func server(value string) (string, bool) {
	value = strings.TrimSpace(value)
	return value, isWeb(value, false)
}

// website normalises an identifier in the system urn:ietf:rfc:3986 as SMART recommends, by removing "www." and the
// trailing slash. It keeps the path because distinct institutions may differ only in the path.
func website(value string) string {
	u, err := url.Parse(value)
	if err != nil || !isWeb(value, true) {
		return value
	}
	u.Host = strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	return strings.TrimSuffix(u.String(), "/")
}

// version returns a FHIR version without surrounding white space. It returns "" for any other text ("unknown", "No Cap
// Stat").
func version(value string) string {
	value = strings.TrimSpace(value)
	if value == "" || len(value) > 20 || value[0] < '0' || value[0] > '9' {
		return ""
	}
	for _, c := range value {
		if c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return ""
		}
	}
	return value
}

// isNPI reports whether a string consists of ten digits, like a National Provider Identifier.
func isNPI(value string) bool {
	return len(value) == 10 && strings.Trim(value, "0123456789") == ""
}
