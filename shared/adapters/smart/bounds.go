package smart

import "strings"

// Limits on a portal's metadata and grants, enforced before storage (docs/develop/architecture.md, Bounds). These
// values are stored in rows of at most 400 KB, and some of them appear in URLs and headers.
const (
	// maxAddress is the maximum length of an endpoint URL or issuer in bytes.
	maxAddress = 2 << 10
	// maxToken is the maximum length of an access or refresh token in bytes. Servers reject headers of 16 KiB. An
	// access token and a refresh token must also fit into a single row.
	maxToken = 16 << 10
	// maxScope is the maximum length of a granted scope in bytes. One scope per R4 type, in both scope versions, takes
	// 10 KB.
	maxScope = 12 << 10
	// maxWords is the maximum number of entries in a list in a discovery document. All scopes for 150 resource types
	// amount to 1,500 entries.
	maxWords = 5000
)

// boundedScope shortens a granted scope that exceeds maxScope bytes, keeping only complete scopes without duplicates.
// Wildcard and Patient scopes come first because exports require them, followed by scopes for single types and then all
// others.
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
