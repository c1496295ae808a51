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

// Operation is one of a service that speaks the AWS JSON 1.1 protocol.
type Operation struct {
	Service string // as Call has it
	SDKID   string // as Call has it
	Target  string // with the prefix of the service: "AmazonSSM.GetParameter"
}

// JSON sends in to an operation and decodes what it answers into out.
func JSON(ctx context.Context, cfg aws.Config, now func() time.Time, op Operation, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("call of %s: %w", op.Service, err)
	}
	return Do(ctx, cfg, now, Call{
		Service: op.Service, SDKID: op.SDKID, Body: string(body),
		Header: map[string]string{"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": op.Target},
		Read: func(status int, answer []byte) error {
			if status == http.StatusOK && json.Unmarshal(answer, out) == nil {
				return nil
			}
			return refusal(status, answer)
		},
	})
}

// refusal reads an error, whose type may have the namespace of the service before it (AWS JSON 1.1 protocol, "Operation
// error serialization"). Nothing else of the answer gets into it: what a service answers may be a secret.
func refusal(status int, answer []byte) error {
	var said struct {
		Type    string `json:"__type"`
		Message string // in either spelling, for which Go's decoder does not care
	}
	if status == http.StatusOK || json.Unmarshal(answer, &said) != nil {
		return &RefusedError{Status: status}
	}
	code := said.Type[strings.LastIndex(said.Type, "#")+1:]
	return &RefusedError{Status: status, Code: code, Message: said.Message}
}
