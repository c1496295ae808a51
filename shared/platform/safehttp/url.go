package safehttp

import (
	"net/url"

	"recordbridge/shared/words/weburl"
)

// acceptable reports whether all parsers interpret target in the same way. It rejects user information and other parts
// that would be dropped or sent unintentionally.
func acceptable(target *url.URL) bool {
	return target != nil && (target.Scheme == "https" || target.Scheme == "http") && target.Opaque == "" &&
		target.User == nil && target.Fragment == "" && weburl.IsPlainHost(target.Hostname())
}
