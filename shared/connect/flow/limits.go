package flow

import (
	"net/url"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/org"
)

// maxReturn is the longest URL of a result, in bytes, that includes the optional scope; a longer one omits it. Many
// servers accept 8 KiB, but some only half of that.
const maxReturn = 4096

// CheckLengths returns fault.Invalid for values that are too long to be returned.
func (r Request) CheckLengths() error {
	return binding.CheckLengths(r.ExternalID, r.ExternalState, r.RequestID)
}

// shortened returns a result that fits the URL to which it is returned. The record and the event keep the full scope.
func shortened(to org.VerifiedRedirect, result url.Values) url.Values {
	if len(to.With(result)) > maxReturn {
		result.Del("scope")
	}
	return result
}
