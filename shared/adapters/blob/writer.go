package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// partSize is the size of a writer's buffer. A writer that saves the bytes before a mark has two buffers. S3 allows
// 10,000 parts, so the maximum file size is 78 GiB.
const partSize = 8 << 20

// writer uploads an object in parts. An object that fits into one part is stored with a single call.
type writer struct {
	//nolint:containedctx // io.Writer has no context; the upload lives as long as the one that began it
	ctx         context.Context
	bucket      Bucket
	key         string
	contentType string
	buffer      []byte // bytes not yet uploaded
	upload      string
	parts       []types.CompletedPart
	mark        mark
	failed      error
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		if w.failed != nil {
			return written, w.failed
		}
		n := min(len(p), partSize-len(w.buffer))
		w.buffer = append(withRoom(w.buffer, n), p[:n]...)
		p, written = p[n:], written+n
		if len(w.buffer) == partSize {
			w.failed = w.flush(w.ctx)
		}
	}
	return written, w.failed
}

// withRoom returns buffer with capacity for n more bytes. The capacity doubles, as in append, but never exceeds
// partSize.
func withRoom(buffer []byte, n int) []byte {
	need := len(buffer) + n
	if need <= cap(buffer) {
		return buffer
	}
	return append(make([]byte, 0, min(partSize, max(need, 2*cap(buffer)))), buffer...)
}

// Close completes the upload, which makes the object visible.
func (w *writer) Close(ctx context.Context) error {
	if w.failed != nil {
		return w.failed
	}
	if w.upload == "" {
		_, err := w.bucket.Client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &w.bucket.Name, Key: &w.key, ContentType: &w.contentType, Body: bytes.NewReader(w.buffer),
		})
		if err != nil {
			return fmt.Errorf("put object: %w", err)
		}
		return nil
	}
	if len(w.buffer) > 0 {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	_, err := w.bucket.Client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &w.bucket.Name, Key: &w.key, UploadId: &w.upload,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: w.parts},
	})
	if err != nil {
		return fmt.Errorf("complete upload: %w", err)
	}
	return nil
}

// errAborted is a writer's error after Abort. The error prevents a later Close from creating the object.
var errAborted = errors.New("the object was given up")

// Abort discards the object. The bucket's lifecycle rule removes parts that can't be deleted immediately.
func (w *writer) Abort(ctx context.Context) {
	w.failed = errAborted
	w.drop(ctx)
}

func (w *writer) drop(ctx context.Context) {
	if w.upload != "" {
		_, _ = w.bucket.Client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
			Bucket: &w.bucket.Name, Key: &w.key, UploadId: &w.upload,
		})
		w.upload = ""
	}
}

// flush uploads the buffer as the next part.
func (w *writer) flush(ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	part := w.nextPart()
	out, err := w.bucket.Client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &w.bucket.Name, Key: &w.key, UploadId: &w.upload, PartNumber: part, Body: bytes.NewReader(w.buffer),
	})
	if err != nil {
		return fmt.Errorf("upload part: %w", err)
	}
	w.keepMarked()
	w.parts = append(w.parts, types.CompletedPart{PartNumber: part, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32})
	w.buffer = w.buffer[:0]
	return nil
}

// begin starts the multipart upload unless it has already started.
func (w *writer) begin(ctx context.Context) error {
	if w.upload != "" {
		return nil
	}
	out, err := w.bucket.Client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &w.bucket.Name, Key: &w.key, ContentType: &w.contentType,
		// The SDK always sends a checksum with every part, and some servers reject parts whose checksum algorithm was
		// not announced.
		ChecksumAlgorithm: types.ChecksumAlgorithmCrc32,
	})
	if err != nil {
		return fmt.Errorf("begin upload: %w", err)
	}
	w.upload = aws.ToString(out.UploadId)
	return nil
}

func (w *writer) nextPart() *int32 {
	return aws.Int32(int32(len(w.parts) + 1)) //nolint:gosec // at most 10,000 parts
}
