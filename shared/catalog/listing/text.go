package listing

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain is a text on one line: UTF-8, single blanks, without control characters and without those that turn the
// direction of what follows (Unicode TR 36, section 2.5). It reports whether any had to go.
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

// text is what an entry's text becomes. One that is too long is empty.
func (r *Report) text(key, value string, longest int) string {
	if len(value) > longest*utf8.UTFMax {
		r.found(TooLong, key)
		return ""
	}
	clean, isWhole := plain(value)
	if !isWhole {
		r.found(BadText, key)
	}
	if utf8.RuneCountInString(clean) > longest {
		r.found(TooLong, key)
		return ""
	}
	return clean
}

// link is an address for people; empty when it is none. Pictures that stand in the list itself (data:) are
// not kept, and no mistake.
func (r *Report) link(key, value string) string {
	value = strings.TrimSpace(value)
	if value == "" || strings.HasPrefix(value, "data:") {
		return ""
	}
	if !isWeb(value, true) {
		r.found(BadLink, key)
		return ""
	}
	return value
}

// isWeb tells an absolute http or https address without user information, which a person or the service can open.
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

// server is the address of a FHIR server, and whether it is one.
func server(value string) (string, bool) {
	value = strings.TrimSpace(value)
	return value, isWeb(value, false)
}

// website is the identifier of urn:ietf:rfc:3986 as SMART recommends it, so far as that takes nothing away that tells
// two institutions apart: without "www." and a last slash, but with its path.
func website(value string) string {
	u, err := url.Parse(value)
	if err != nil || !isWeb(value, true) {
		return value
	}
	u.Host = strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	return strings.TrimSuffix(u.String(), "/")
}

// version is a version of FHIR as servers write it; empty for words that are none ("unknown", "No Cap Stat").
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

// isNPI tells a National Provider Identifier by its form: ten digits.
func isNPI(value string) bool {
	return len(value) == 10 && strings.Trim(value, "0123456789") == ""
}
