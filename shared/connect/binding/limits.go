package binding

import (
	"fmt"

	"recordbridge/shared/words/fault"
)

// How long the values may be that a caller gives to have them returned, in bytes. An address that returns all of them,
// with every byte percent-encoded, still fits what gateways and servers take (8 KiB).
const (
	maxExternalID    = 512
	maxExternalState = 1024
	maxRequestID     = 128
)

// CheckLengths refuses values that are too long to be returned; fault.Invalid.
func CheckLengths(externalID, externalState, requestID string) error {
	for _, given := range []struct {
		name, value string
		limit       int
	}{
		{"external_id", externalID, maxExternalID},
		{"external_state", externalState, maxExternalState},
		{"request_id", requestID, maxRequestID},
	} {
		if len(given.value) > given.limit {
			return fault.BadRequest(fmt.Sprintf("%s must not be longer than %d bytes.", given.name,
				given.limit)).About(given.name)
		}
	}
	return nil
}
