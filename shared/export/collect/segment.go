package collect

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"

	"recordbridge/shared/export"
	"recordbridge/shared/export/checkpoint"
)

// segmentWriter writes an object that holds one segment of a file. Successive runs write a file's segments. A
// segmentWriter counts the bytes and continues the complete file's SHA-256 hash.
type segmentWriter struct {
	object export.Writer
	made   checkpoint.Segment
	digest hash.Hash

	markedBytes  int64
	markedDigest []byte
}

// newSegment begins an object. The digest argument is the SHA-256 state after the previous segments, or nil for the
// first segment.
func newSegment(ctx context.Context, files export.Files, key, contentType string,
	digest []byte,
) (*segmentWriter, error) {
	restored, err := restoreDigest(digest)
	if err != nil {
		return nil, err
	}
	object, err := files.Create(ctx, key, contentType)
	if err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	return &segmentWriter{object: object, made: checkpoint.Segment{Key: key}, digest: restored}, nil
}

// Write implements io.Writer.
func (w *segmentWriter) Write(data []byte) (int, error) {
	n, err := w.object.Write(data)
	w.made.Bytes += int64(n)
	_, _ = w.digest.Write(data[:n]) // hash.Hash's Write never returns an error
	if err != nil {
		return n, fmt.Errorf("write segment: %w", err)
	}
	return n, nil
}

// mark records the object's current end for rewind.
func (w *segmentWriter) mark() (err error) {
	w.object.Mark()
	w.markedBytes = w.made.Bytes
	w.markedDigest, err = keepDigest(w.digest)
	return err
}

// rewind rolls back everything written since the last mark.
func (w *segmentWriter) rewind(ctx context.Context) (err error) {
	if err = w.object.Rewind(ctx); err != nil {
		return fmt.Errorf("take a broken line back: %w", err)
	}
	w.made.Bytes = w.markedBytes
	w.digest, err = restoreDigest(w.markedDigest)
	return err
}

// close creates the object and returns the segment and the digest's state after the segment.
func (w *segmentWriter) close(ctx context.Context) (made checkpoint.Segment, digest []byte, err error) {
	if err = w.object.Close(ctx); err != nil {
		return checkpoint.Segment{}, nil, fmt.Errorf("close segment: %w", err)
	}
	digest, err = keepDigest(w.digest)
	return w.made, digest, err
}

// abort discards the object, even if the run's context has ended.
func (w *segmentWriter) abort(ctx context.Context) { w.object.Abort(context.WithoutCancel(ctx)) }

var errDigest = errors.New("the digest cannot be kept")

// keepDigest returns a digest's state, to be passed to restoreDigest.
func keepDigest(digest hash.Hash) ([]byte, error) {
	to, ok := digest.(encoding.BinaryMarshaler)
	if !ok {
		return nil, errDigest
	}
	state, err := to.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("keep digest: %w", err)
	}
	return state, nil
}

// restoreDigest returns a digest in the given state, or a new digest if state is nil.
func restoreDigest(state []byte) (hash.Hash, error) {
	digest := sha256.New()
	if len(state) == 0 {
		return digest, nil
	}
	from, ok := digest.(encoding.BinaryUnmarshaler)
	if !ok {
		return nil, errDigest
	}
	if err := from.UnmarshalBinary(state); err != nil {
		return nil, fmt.Errorf("restore digest: %w", err)
	}
	return digest, nil
}

// sumOf returns the hex-encoded SHA-256 sum of a digest in the given state.
func sumOf(state []byte) (string, error) {
	digest, err := restoreDigest(state)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
