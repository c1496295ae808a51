package smart

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"recordbridge/shared/connect/tokens"
)

// maxField is the largest extra field of a token answer in bytes. What is larger is no id, and
// every token set carries it.
const maxField = 512

// extra reads the fields of a token answer that later calls need, by name: strings and numbers of visible ASCII, as ids
// are. A field that is missing, empty, too large or of another kind is there as "", and so is one that holds a token:
// they end up in addresses. A name that tokens.MayBeExtra does not allow is not there at all.
func (a answer) extra(names []string) map[string]string {
	var kept map[string]string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if !tokens.MayBeExtra(name) || len(kept) == tokens.MaxExtra {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		if value := a.scalar(name); len(value) <= maxField && isToken(value) && !a.tellsToken(value) {
			kept[name] = value
		} else {
			kept[name] = ""
		}
	}
	return kept
}

// scalar returns a member that is a string or a number, the latter as it is written; else "".
func (a answer) scalar(name string) string {
	raw := string(a[name])
	if strings.Trim(raw, "+-.0123456789Ee") == "" { // of all JSON values, only numbers are made of nothing else
		return raw
	}
	return a.text(name)
}

// tellsToken reports whether a value holds one of the answer's own tokens.
func (a answer) tellsToken(value string) bool {
	for _, name := range [...]string{"access_token", "refresh_token", "id_token"} {
		if token := a.text(name); token != "" && strings.Contains(value, token) {
			return true
		}
	}
	return false
}

// newer is what is known of the extra fields after a refresh: a field that it did not bring stays as it was.
func newer(old, sent map[string]string) map[string]string {
	all := maps.Clone(old)
	for name, value := range sent {
		all[name] = cmp.Or(value, all[name])
	}
	return all
}
