package blob

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Lister is the part of the S3 client that lists objects.
type Lister interface {
	ListObjectsV2(ctx context.Context, in *s3.ListObjectsV2Input, o ...func(*s3.Options)) (*s3.ListObjectsV2Output, error)
	DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, o ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
}

// Folders lists and deletes a bucket's objects by prefix.
type Folders struct {
	Client Lister
	Name   string
}

// List returns the keys of the objects whose keys begin with prefix.
func (f Folders) List(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	in := &s3.ListObjectsV2Input{Bucket: &f.Name, Prefix: &prefix}
	for {
		out, err := f.Client.ListObjectsV2(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("list objects: %w", err)
		}
		for _, object := range out.Contents {
			keys = append(keys, aws.ToString(object.Key))
		}
		if !aws.ToBool(out.IsTruncated) {
			return keys, nil
		}
		in.ContinuationToken = out.NextContinuationToken
	}
}

// Delete removes an object. Deleting a missing object is not an error.
func (f Folders) Delete(ctx context.Context, key string) error {
	if _, err := f.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &f.Name, Key: &key}); err != nil {
		return fmt.Errorf("delete object: %w", err)
	}
	return nil
}
