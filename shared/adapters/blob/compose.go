package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	// minPart is the minimum size of every upload part except the last. A source copied in ranges must be larger than
	// minPart (see UploadPartCopy and "Amazon S3 multipart upload limits" in the S3 documentation).
	minPart = 5 << 20
	// maxCopy is the maximum number of bytes copied per call. S3 allows 5 GiB, but smaller parts are copied faster and
	// are cheaper to retry.
	maxCopy = 1 << 30
)

// Compose concatenates existing objects into a new object. Compose makes S3 copy each source that is large enough to be
// a part. Only small objects, and the few MiB needed to reach the minimum part size, pass through memory. Compose holds
// at most partSize bytes in memory at a time. Compose returns fault.NotFound if a source is missing. If Compose fails,
// the new object is not created.
func (b Bucket) Compose(ctx context.Context, key, contentType string, parts []string) error {
	w := &writer{ctx: ctx, bucket: b, key: key, contentType: contentType}
	for _, part := range parts {
		if err := w.add(ctx, part); err != nil {
			w.Abort(context.WithoutCancel(ctx))
			return err
		}
	}
	if err := w.Close(ctx); err != nil {
		w.Abort(context.WithoutCancel(ctx))
		return err
	}
	return nil
}

// source is an object to copy from. The ETag identifies the version whose size was read, so that S3 rejects the copy if
// the object has changed.
type source struct {
	key  string
	tag  *string
	size int64
}

func (b Bucket) measure(ctx context.Context, key string) (source, error) {
	out, err := b.Client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.Name, Key: &key})
	if _, ok := errors.AsType[*types.NotFound](err); ok {
		return source{}, missing(err)
	}
	if err != nil {
		return source{}, fmt.Errorf("head object: %w", err)
	}
	return source{key: key, tag: out.ETag, size: aws.ToInt64(out.ContentLength)}, nil
}

// add appends the object with the given key to the new object. If the buffered data is too small to be a part, add
// first fills the buffer from the start of a large object and then copies the rest.
func (w *writer) add(ctx context.Context, key string) error {
	from, err := w.bucket.measure(ctx, key)
	if err != nil {
		return err
	}
	head := int64(0)
	if len(w.buffer) > 0 {
		head = max(0, minPart-int64(len(w.buffer)))
	}
	if from.size-head < minPart {
		return w.read(ctx, from, from.size)
	}
	if err := w.read(ctx, from, head); err != nil {
		return err
	}
	if len(w.buffer) > 0 {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	return w.copy(ctx, from, head)
}

// read downloads the first size bytes of an object and appends them to the upload.
func (w *writer) read(ctx context.Context, from source, size int64) error {
	if size == 0 {
		return nil
	}
	out, err := w.bucket.Client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &w.bucket.Name, Key: &from.key, IfMatch: from.tag, Range: aws.String(span(0, size)),
	})
	if isMissing(err) {
		return missing(err)
	}
	if err != nil {
		return fmt.Errorf("get object: %w", err)
	}
	defer func() { _ = out.Body.Close() }()
	if _, err := io.CopyN(w, out.Body, size); err != nil {
		return fmt.Errorf("read object: %w", err)
	}
	return nil
}

// copy makes S3 append an object, starting at offset. The parts are of nearly equal size, because S3 allows only an
// upload's last part to be small.
func (w *writer) copy(ctx context.Context, from source, start int64) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	calls := (from.size - start + maxCopy - 1) / maxCopy
	for call := range calls {
		end := start + (from.size-start)/(calls-call)
		if err := w.copyPart(ctx, from, start, end); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (w *writer) copyPart(ctx context.Context, from source, start, end int64) error {
	in := &s3.UploadPartCopyInput{
		Bucket: &w.bucket.Name, Key: &w.key, UploadId: &w.upload, PartNumber: w.nextPart(),
		CopySource: aws.String(w.bucket.Name + "/" + escapeKey(from.key)), CopySourceIfMatch: from.tag,
	}
	if end-start < from.size { // an object of exactly minPart can only be copied in full, not in ranges
		in.CopySourceRange = aws.String(span(start, end))
	}
	out, err := w.bucket.Client.UploadPartCopy(ctx, in)
	if err != nil {
		return fmt.Errorf("copy part: %w", err)
	}
	part := types.CompletedPart{PartNumber: in.PartNumber}
	if out.CopyPartResult != nil {
		part.ETag, part.ChecksumCRC32 = out.CopyPartResult.ETag, out.CopyPartResult.ChecksumCRC32
	}
	w.parts = append(w.parts, part)
	return nil
}

// span returns the HTTP range of bytes start (inclusive) to end (exclusive).
func span(start, end int64) string { return fmt.Sprintf("bytes=%d-%d", start, end-1) }

// escapeKey escapes a key for x-amz-copy-source, which the SDK does not escape. S3 interprets an unescaped plus sign as
// a space.
func escapeKey(key string) string { return strings.ReplaceAll(url.QueryEscape(key), "+", "%20") }
