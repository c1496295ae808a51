package blob

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Put stores body as an object.
func (b Bucket) Put(ctx context.Context, key, contentType string, body []byte) error {
	_, err := b.Client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.Name, Key: &key, ContentType: &contentType,
		Body: bytes.NewReader(body),
	})
	if err != nil {
		return fmt.Errorf("put object: %w", err)
	}
	return nil
}

// Write stores the output of write as an object, in bounded memory. If write fails, no object is created.
func (b Bucket) Write(ctx context.Context, key, contentType string, write func(io.Writer) error) error {
	object, err := b.Create(ctx, key, contentType)
	if err != nil {
		return err
	}
	if err := write(object); err != nil {
		object.Abort(ctx)
		return fmt.Errorf("write object: %w", err)
	}
	return object.Close(ctx)
}
