package recordbridge

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrFileMismatch reports that a downloaded file differs from the exported one. Discard the data, and download the file
// again.
var ErrFileMismatch = errors.New("recordbridge: the downloaded file differs from the exported file")

// ErrInvalidManifest reports that an export's manifest is missing, isn't signed by the service, or belongs to another
// export or other files.
var ErrInvalidManifest = errors.New("recordbridge: invalid manifest")

// Error is a rejected request. Code and RequestID are empty if the response isn't the API's.
type Error struct {
	Code      string
	Message   string
	Status    int
	RequestID string
}

// Error returns the message with the code and the request ID.
func (e *Error) Error() string {
	return fmt.Sprintf("recordbridge: %s (status %d, code %q, request %q)", e.Message, e.Status, e.Code, e.RequestID)
}

// refusal returns the error of a response.
func refusal(status int, body []byte) error {
	var fields struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
		RequestID   string `json:"request_id"`
	}
	if err := json.Unmarshal(body, &fields); err != nil || fields.Description == "" {
		fields.Description = fmt.Sprintf("the server responded with status %d", status)
	}
	return &Error{Code: fields.Code, Message: fields.Description, Status: status, RequestID: fields.RequestID}
}
