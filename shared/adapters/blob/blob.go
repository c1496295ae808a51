// Package blob stores files in S3. The package writes objects in bounded memory, concatenates, reads and deletes them,
// and signs download URLs. The caller chooses each file's key and lifetime.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"recordbridge/shared/export"
	"recordbridge/shared/words/fault"
)

// Client is the part of the S3 client that this package uses.
type Client interface {
	PutObject(ctx context.Context, in *s3.PutObjectInput, o ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	GetObject(ctx context.Context, in *s3.GetObjectInput, o ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	HeadObject(ctx context.Context, in *s3.HeadObjectInput, o ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, o ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
	CreateMultipartUpload(ctx context.Context, in *s3.CreateMultipartUploadInput,
		o ...func(*s3.Options)) (*s3.CreateMultipartUploadOutput, error)
	UploadPart(ctx context.Context, in *s3.UploadPartInput, o ...func(*s3.Options)) (*s3.UploadPartOutput, error)
	UploadPartCopy(ctx context.Context, in *s3.UploadPartCopyInput,
		o ...func(*s3.Options)) (*s3.UploadPartCopyOutput, error)
	CompleteMultipartUpload(ctx context.Context, in *s3.CompleteMultipartUploadInput,
		o ...func(*s3.Options)) (*s3.CompleteMultipartUploadOutput, error)
	AbortMultipartUpload(ctx context.Context, in *s3.AbortMultipartUploadInput,
		o ...func(*s3.Options)) (*s3.AbortMultipartUploadOutput, error)
}

// Bucket reads, writes and deletes the objects of an S3 bucket.
type Bucket struct {
	Client Client
	Name   string
}

// Create starts writing an object. The object becomes visible when the caller closes the writer.
func (b Bucket) Create(ctx context.Context, key, contentType string) (export.Writer, error) {
	return &writer{ctx: ctx, bucket: b, key: key, contentType: contentType}, nil
}

// Open reads an object, or returns fault.NotFound if the object does not exist.
func (b Bucket) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	out, err := b.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: &key})
	if isMissing(err) {
		return nil, missing(err)
	}
	if err != nil {
		return nil, fmt.Errorf("get object: %w", err)
	}
	return out.Body, nil
}

func isMissing(err error) bool {
	_, ok := errors.AsType[*types.NoSuchKey](err)
	return ok
}

func missing(err error) error { return fault.Missing("File not found.").Because(err) }

// Delete removes an object. Deleting a missing object is not an error.
func (b Bucket) Delete(ctx context.Context, key string) error {
	if _, err := b.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: &key}); err != nil {
		return fmt.Errorf("delete object: %w", err)
	}
	return nil
}

// Presigner is the part of the S3 presign client that this package uses.
type Presigner interface {
	PresignGetObject(ctx context.Context, in *s3.GetObjectInput,
		o ...func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error)
	PresignHeadObject(ctx context.Context, in *s3.HeadObjectInput,
		o ...func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error)
}

// Downloads signs download URLs for a bucket's objects.
type Downloads struct {
	Presigner Presigner
	Name      string
}

// Address returns a URL that downloads the object as fileName and expires after life. The URL is valid only for HEAD
// requests if method is HEAD; otherwise, it is valid only for GET requests.
func (d Downloads) Address(ctx context.Context, method, key, fileName, contentType string,
	life time.Duration,
) (string, error) {
	attachment, noStore := aws.String(`attachment; filename="`+fileName+`"`), aws.String("no-store")
	var signed *v4.PresignedHTTPRequest
	var err error
	if method == http.MethodHead {
		signed, err = d.Presigner.PresignHeadObject(ctx, &s3.HeadObjectInput{
			Bucket: &d.Name, Key: &key, ResponseContentType: &contentType, ResponseContentDisposition: attachment,
			ResponseCacheControl: noStore,
		}, s3.WithPresignExpires(life))
	} else {
		signed, err = d.Presigner.PresignGetObject(ctx, &s3.GetObjectInput{
			Bucket: &d.Name, Key: &key, ResponseContentType: &contentType, ResponseContentDisposition: attachment,
			ResponseCacheControl: noStore,
		}, s3.WithPresignExpires(life))
	}
	if err != nil {
		return "", fmt.Errorf("presign download: %w", err)
	}
	return signed.URL, nil
}
