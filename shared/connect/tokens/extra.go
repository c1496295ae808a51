package tokens

import "strings"

// MaxExtra is the maximum number of fields in Set.Extra.
const MaxExtra = 8

// maxExtraName is the maximum length of a name in Set.Extra, in bytes.
const maxExtraName = 64

// MayBeExtra reports whether a token response field with the given name may be stored in Set.Extra. The name must
// consist of letters, digits, "_" and "-". It must not contain "token" or "secret", because the field's value becomes
// part of URLs.
func MayBeExtra(name string) bool {
	lower := strings.ToLower(name)
	plain := strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
	return plain && name != "" && len(name) <= maxExtraName && !strings.Contains(lower, "token") &&
		!strings.Contains(lower, "secret")
}
