package smart

import "strings"

// What a portal says of itself and grants is bounded before it is stored (docs/develop/architecture.md, Bounds): each of these
// ends up in rows of at most 400 KB, and some in addresses and headers.
const (
	// maxAddress is the longest endpoint or issuer in bytes.
	maxAddress = 2 << 10
	// maxToken is the longest access or refresh token in bytes. Servers refuse headers of 16 KiB, and a row holds both.
	maxToken = 16 << 10
	// maxScope is the longest granted scope in bytes; one scope for each type of R4 in both versions takes 10 KB.
	maxScope = 12 << 10
	// maxWords bounds the lists of a discovery document; 150 types with all their scopes are 1,500.
	maxWords = 5000
)

// boundedScope is a granted scope, of at most maxScope bytes. A longer one keeps whole scopes: first those of all types
// and the Patient's, without which nothing is exported, then those of single types, then the others, each in the
// portal's order and once.
func boundedScope(granted string) string {
	if len(granted) <= maxScope {
		return granted
	}
	var kept strings.Builder
	seen := map[string]bool{}
	for _, wanted := range [...]func(scope string) bool{
		func(scope string) bool {
			return strings.Contains(scope, "/*.") || strings.HasPrefix(scope, "patient/Patient.")
		},
		func(scope string) bool {
			return strings.HasPrefix(scope, "patient/") || strings.HasPrefix(scope, "user/")
		},
		func(string) bool { return true },
	} {
		for scope := range strings.FieldsSeq(granted) {
			if !wanted(scope) || seen[scope] || kept.Len()+1+len(scope) > maxScope {
				continue
			}
			seen[scope] = true
			if kept.Len() > 0 {
				kept.WriteByte(' ')
			}
			kept.WriteString(scope)
		}
	}
	return kept.String()
}
