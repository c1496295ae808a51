package safehttp

import (
	"net/url"

	"recordbridge/shared/words/weburl"
)

// acceptable reports whether a URL means the same to every parser and carries nothing that is not sent or that is
// sent without being meant, such as user information.
func acceptable(target *url.URL) bool {
	return target != nil && (target.Scheme == "https" || target.Scheme == "http") && target.Opaque == "" &&
		target.User == nil && target.Fragment == "" && weburl.IsPlainHost(target.Hostname())
}
