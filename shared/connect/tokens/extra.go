package tokens

import "strings"

// MaxExtra is how many fields Set.Extra may have.
const MaxExtra = 8

// maxExtraName is how long the name of one may be, in bytes.
const maxExtraName = 64

// MayBeExtra reports whether a field of a token answer may be kept in Set.Extra by its name: letters, digits, "_" and
// "-", and none that speaks of a token or a secret, since what is kept there ends up in addresses.
func MayBeExtra(name string) bool {
	lower := strings.ToLower(name)
	plain := strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
	return plain && name != "" && len(name) <= maxExtraName && !strings.Contains(lower, "token") &&
		!strings.Contains(lower, "secret")
}
