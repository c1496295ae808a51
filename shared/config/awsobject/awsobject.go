// Package awsobject writes and removes whole objects of S3 without the client of S3, for a function that does nothing else there
// (docs/adr/0017-one-operation-without-its-client.md). What reads, lists or composes objects is shared/blob.
package awsobject

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"recordbridge/shared/config/awscall"
)

// Bucket is one bucket, addressed by path. All of it is needed.
type Bucket struct {
	Config aws.Config
	Now    func() time.Time
	Name   string
}

// Put makes an object of a body (Amazon S3 API Reference, PutObject).
func (b Bucket) Put(ctx context.Context, key, contentType string, body []byte) error {
	return b.call(ctx, http.MethodPut, key, map[string]string{"Content-Type": contentType}, body, http.StatusOK)
}

// Delete removes an object; one that is not there is no error (DeleteObject).
func (b Bucket) Delete(ctx context.Context, key string) error {
	return b.call(ctx, http.MethodDelete, key, nil, nil, http.StatusNoContent)
}

func (b Bucket) call(ctx context.Context, method, key string, header map[string]string, body []byte, done int) error {
	err := awscall.Do(ctx, b.Config, b.Now, awscall.Call{
		Service: "s3", SDKID: "S3", Method: method, Path: httpbinding.EscapePath(b.Name+"/"+key, false), Header: header, Body: string(body),
		Read: func(status int, answer []byte) error {
			if status == done {
				return nil
			}
			return &awscall.RefusedError{Status: status, Code: codeOf(answer)}
		},
	})
	if err != nil {
		return fmt.Errorf("%s object: %w", strings.ToLower(method), err)
	}
	return nil
}

// codeOf is the code of an error, which is a word in XML (Amazon S3 API Reference, "REST Error Responses"). Nothing else of the answer is
// kept: it names the object.
func codeOf(answer []byte) string {
	_, rest, _ := bytes.Cut(answer, []byte("<Code>"))
	code, _, whole := bytes.Cut(rest, []byte("</Code>"))
	if !whole || len(code) > 64 || bytes.ContainsAny(code, "<>& \n") {
		return ""
	}
	return string(code)
}
