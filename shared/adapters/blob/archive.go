package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"recordbridge/shared/words/fault"
)

// Archive is a bucket of objects that are written once and may be deleted while somebody still looks for them. Who may
// not list a bucket is told by S3 that access is denied to what is not there, so that both mean the same here.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
type Archive struct{ Bucket }

// Open reads an object; fault.NotFound when it is not there.
func (a Archive) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	body, err := a.Bucket.Open(ctx, key)
	if isDenied(err) {
		return nil, missing(err)
	}
	return body, err
}

// Range reads what there is of an object from an offset on, up to a length, and tells the size of the whole;
// fault.NotFound when it is not there. The offset has to be inside.
func (a Archive) Range(ctx context.Context, key string, from, length int64) (part []byte, size int64, err error) {
	out, err := a.Client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &a.Name, Key: &key, Range: aws.String(fmt.Sprintf("bytes=%d-%d", from, from+length-1)),
	})
	if isDenied(err) || isMissing(err) {
		return nil, 0, missing(err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("get a part of an object: %w", err)
	}
	defer func() { _ = out.Body.Close() }() // read only
	if part, err = io.ReadAll(io.LimitReader(out.Body, length)); err != nil {
		return nil, 0, fmt.Errorf("read a part of an object: %w", err)
	}
	_, whole, _ := strings.Cut(aws.ToString(out.ContentRange), "/")
	size, err = strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return nil, 0, fault.Of(fmt.Errorf("the size of an object: %w", err))
	}
	return part, size, nil
}

func isDenied(err error) bool {
	failure, ok := errors.AsType[smithy.APIError](err)
	return ok && failure.ErrorCode() == "AccessDenied"
}
