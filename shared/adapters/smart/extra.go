package smart

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"recordbridge/shared/connect/tokens"
)

// maxField is the maximum size of an extra token response field in bytes. A larger value can't be an ID and would be
// stored in every token set.
const maxField = 512

// extra returns the named fields of a token response for use in later calls. Names that tokens.MayBeExtra does not
// allow are omitted. Later requests insert the values into URLs, so each value must be an ID-like string or a number,
// consisting of visible ASCII. A field is set to "" if it is missing, empty, too large, of the wrong type, or contains
// a token.
func (a answer) extra(names []string) map[string]string {
	var kept map[string]string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if !tokens.MayBeExtra(name) || len(kept) == tokens.MaxExtra {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		if value := a.scalar(name); len(value) <= maxField && isToken(value) && !a.containsToken(value) {
			kept[name] = value
		} else {
			kept[name] = ""
		}
	}
	return kept
}

// scalar returns a member that is a string or a number, and "" for other types. A number keeps its original notation.
func (a answer) scalar(name string) string {
	raw := string(a[name])
	if strings.Trim(raw, "+-.0123456789Ee") == "" { // only JSON numbers consist solely of these characters
		return raw
	}
	return a.text(name)
}

// containsToken reports whether a value contains one of the response's own tokens.
func (a answer) containsToken(value string) bool {
	for _, name := range [...]string{"access_token", "refresh_token", "id_token"} {
		if token := a.text(name); token != "" && strings.Contains(value, token) {
			return true
		}
	}
	return false
}

// newer merges the extra fields of a refresh response with the old ones. A field that is missing from the refresh
// response keeps its previous value.
func newer(old, sent map[string]string) map[string]string {
	all := maps.Clone(old)
	for name, value := range sent {
		all[name] = cmp.Or(value, all[name])
	}
	return all
}
