package smart

import "strings"

// A portal's metadata and grants are bounded before they are stored (docs/develop/architecture.md, Bounds): each ends
// up in rows of at most 400 KB, and some in URLs and headers.
const (
	// maxAddress is the maximum length of an endpoint or issuer in bytes.
	maxAddress = 2 << 10
	// maxToken is the maximum length of an access or refresh token in bytes. Servers refuse headers of 16 KiB, and a row
	// holds both tokens.
	maxToken = 16 << 10
	// maxScope is the maximum length of a granted scope in bytes. One scope for each type of R4 in both versions takes 10
	// KB.
	maxScope = 12 << 10
	// maxWords bounds the lists of a discovery document; 150 types with all their scopes are 1,500.
	maxWords = 5000
)

// boundedScope returns a granted scope of at most maxScope bytes. A longer one is cut to complete scopes: first those
// of all types and of Patient, without which nothing can be exported, then those of single types, then the others, each
// once and in the portal's order.
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
