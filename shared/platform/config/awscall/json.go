package awscall

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Operation identifies an operation of a service that uses the AWS JSON 1.1 protocol.
type Operation struct {
	Service string // see Call.Service
	SDKID   string // see Call.SDKID
	Target  string // operation, prefixed with the service's name, such as "AmazonSSM.GetParameter"
}

// JSON calls an operation with input in, and decodes the response into out.
func JSON(ctx context.Context, cfg aws.Config, now func() time.Time, op Operation, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("call of %s: %w", op.Service, err)
	}
	return Do(ctx, cfg, now, Call{
		Service: op.Service, SDKID: op.SDKID, Operation: op.Target[strings.LastIndex(op.Target, ".")+1:], Body: string(body),
		Header: map[string]string{"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": op.Target},
		Read:   into(out),
	})
}

// Get reads the resource at path from a service that uses the AWS REST JSON protocol, and decodes the response into
// out. Errors have the response's status, but no error type, because REST JSON sends the type in a header.
func Get(ctx context.Context, cfg aws.Config, now func() time.Time, service, sdkID, path string, out any) error {
	return Do(ctx, cfg, now, Call{
		Service: service, SDKID: sdkID, Method: http.MethodGet, Path: path, Read: into(out),
		Header: map[string]string{"Accept": "application/json"},
	})
}

// into returns a reader of responses that decodes them into out.
func into(out any) func(status int, answer []byte) error {
	return func(status int, answer []byte) error {
		if status == http.StatusOK && json.Unmarshal(answer, out) == nil {
			return nil
		}
		return refusal(status, answer)
	}
}

// refusal parses an error response. The error type may be prefixed with the service's namespace (AWS JSON 1.1 protocol,
// "Operation error serialization"). The returned error contains only the status, error type and message, because other
// parts of the response may contain secrets.
func refusal(status int, answer []byte) error {
	var said struct {
		Type    string `json:"__type"`
		Message string // "message" or "Message"; Go's decoder ignores case
	}
	if status == http.StatusOK || json.Unmarshal(answer, &said) != nil {
		return &RefusedError{Status: status}
	}
	code := said.Type[strings.LastIndex(said.Type, "#")+1:]
	return &RefusedError{Status: status, Code: code, Message: said.Message}
}
