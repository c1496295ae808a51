package blob

import (
	"context"
	"fmt"
	"io"
)

// Write makes an object of what write writes, in bounded memory. There is none when write fails.
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
