package flow

import (
	"fmt"
	"net/url"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// How long the values may be that a caller gives to have them returned, in bytes. An address that returns all of them, with
// every byte percent-encoded, still fits what gateways and servers take (8 KiB).
const (
	maxExternalID    = 512
	maxExternalState = 1024
	maxRequestID     = 128
)

// maxReturn is how long the address of a result may be, in bytes, before the scope, which the result does not need
// to have, is left out of it: many servers take 8 KiB and some no more than half of that.
const maxReturn = 4096

// CheckLengths refuses values that are too long to be returned; fault.Invalid.
func (r Request) CheckLengths() error {
	for _, given := range []struct {
		name, value string
		limit       int
	}{
		{"external_id", r.ExternalID, maxExternalID},
		{"external_state", r.ExternalState, maxExternalState},
		{"request_id", r.RequestID, maxRequestID},
	} {
		if len(given.value) > given.limit {
			return fault.BadRequest(fmt.Sprintf("%s must not be longer than %d bytes.", given.name, given.limit)).About(given.name)
		}
	}
	return nil
}

// shortened is a result that fits the address that it is returned to. The record and the event keep the whole scope.
func shortened(to org.VerifiedRedirect, result url.Values) url.Values {
	if len(to.With(result)) > maxReturn {
		result.Del("scope")
	}
	return result
}
