package binding

import (
	"fmt"

	"recordbridge/shared/words/fault"
)

// Maximum lengths, in bytes, of values that a caller supplies and later receives back in a URL. Even with every byte
// percent-encoded, a URL containing all of these values fits within the 8 KiB limit of common gateways and servers.
const (
	maxExternalID    = 512
	maxExternalState = 1024
	maxRequestID     = 128
)

// CheckLengths returns fault.Invalid if a value is too long to be returned in a URL.
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
