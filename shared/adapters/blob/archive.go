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

// Archive is a bucket whose objects are written once and may be deleted while readers still request them. S3 returns
// AccessDenied for a missing object if the caller may not list the bucket, so Archive treats AccessDenied as not found.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
type Archive struct{ Bucket }

// Open reads an object, or returns fault.NotFound if the object does not exist.
func (a Archive) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	body, err := a.Bucket.Open(ctx, key)
	if isDenied(err) {
		return nil, missing(err)
	}
	return body, err
}

// Range reads up to length bytes of an object, starting at offset from, and returns the object's total size. Range
// returns fault.NotFound if the object does not exist. The offset must lie within the object.
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
	defer func() { _ = out.Body.Close() }() // read-only, so closing loses no data
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
