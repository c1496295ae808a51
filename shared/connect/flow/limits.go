package flow

import (
	"net/url"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/org"
)

// maxReturn is the maximum length, in bytes, of a result URL that includes the optional scope. If the URL would be
// longer, the scope is omitted. Many servers accept 8 KiB, but some accept only half of that.
const maxReturn = 4096

// CheckLengths returns fault.Invalid if a value in the request is too long to be returned in a URL.
func (r Request) CheckLengths() error {
	return binding.CheckLengths(r.ExternalID, r.ExternalState, r.RequestID)
}

// shortened returns result, but omits the scope if the redirect URL would otherwise be too long. The connection's
// record and the event retain the full scope.
func shortened(to org.VerifiedRedirect, result url.Values) url.Values {
	if len(to.With(result)) > maxReturn {
		result.Del("scope")
	}
	return result
}
