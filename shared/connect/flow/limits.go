package flow

import (
	"net/url"

	"recordbridge/shared/connect/binding"
	"recordbridge/shared/words/org"
)

// maxReturn is how long the address of a result may be, in bytes, before the scope, which the result does not need
// to have, is left out of it: many servers take 8 KiB and some no more than half of that.
const maxReturn = 4096

// CheckLengths refuses values that are too long to be returned; fault.Invalid.
func (r Request) CheckLengths() error {
	return binding.CheckLengths(r.ExternalID, r.ExternalState, r.RequestID)
}

// shortened is a result that fits the address that it is returned to. The record and the event keep the whole scope.
func shortened(to org.VerifiedRedirect, result url.Values) url.Values {
	if len(to.With(result)) > maxReturn {
		result.Del("scope")
	}
	return result
}
