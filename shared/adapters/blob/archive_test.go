package blob_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"recordbridge/shared/adapters/blob"
	"recordbridge/shared/words/fault"
)

// guarded is a client whose S3 reads all fail with the given error code.
type guarded struct {
	*s3.Client

	code string
}

func (r guarded) GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return nil, &smithy.GenericAPIError{Code: r.code, Message: "refused"}
}

// TestArchiveReportsNotFoundWhenListPermissionIsMissing checks that AccessDenied becomes fault.NotFound. If the caller
// may not list the bucket, S3 returns AccessDenied for a missing object. Other errors must not become fault.NotFound.
func TestArchiveReportsNotFoundWhenListPermissionIsMissing(t *testing.T) {
	t.Parallel()
	for code, missing := range map[string]bool{"AccessDenied": true, "SlowDown": false, "InternalError": false} {
		archive := blob.Archive{Bucket: blob.Bucket{Client: guarded{code: code}, Name: name}}
		_, err := archive.Open(t.Context(), "key")
		_, _, rangeErr := archive.Range(t.Context(), "key", 0, 1)
		if errors.Is(err, fault.NotFound) != missing || errors.Is(rangeErr, fault.NotFound) != missing || err == nil ||
			rangeErr == nil {
			t.Errorf("%s: Open %v, Range %v", code, err, rangeErr)
		}
		if _, err = archive.Bucket.Open(t.Context(), "key"); errors.Is(err, fault.NotFound) {
			t.Errorf("%s of a bucket that is no archive: %v", code, err)
		}
	}
}
