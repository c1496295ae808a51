package export

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"hash"
)

// segment is one object with a run's share of a file.
type segment struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

// digest is the SHA-256 of a file that is written in segments, one run after the other.
type digest struct{ hash.Hash }

// newDigest goes on from the state of an earlier run; nil to begin.
func newDigest(state []byte) (digest, error) {
	d := digest{sha256.New()}
	if len(state) == 0 {
		return d, nil
	}
	from, ok := d.Hash.(encoding.BinaryUnmarshaler)
	if !ok {
		return d, errDigest
	}
	if err := from.UnmarshalBinary(state); err != nil {
		return d, fmt.Errorf("restore digest: %w", err)
	}
	return d, nil
}

// state is what newDigest takes.
func (d digest) state() ([]byte, error) {
	to, ok := d.Hash.(encoding.BinaryMarshaler)
	if !ok {
		return nil, errDigest
	}
	state, err := to.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("keep digest: %w", err)
	}
	return state, nil
}

var errDigest = errors.New("the digest cannot be kept")

// tally writes a segment, counts its bytes and goes on with the digest of the whole file.
type tally struct {
	Writer

	bytes  int64
	digest digest
	marked int64
	before []byte // the digest's state at the mark
}

// Write implements io.Writer.
func (t *tally) Write(data []byte) (int, error) {
	n, err := t.Writer.Write(data)
	t.bytes += int64(n)
	_, _ = t.digest.Write(data[:n]) // a hash takes everything
	if err != nil {
		return n, fmt.Errorf("write segment: %w", err)
	}
	return n, nil
}

// mark remembers the place after the last byte written.
func (t *tally) mark() (err error) {
	t.Mark()
	t.marked = t.bytes
	t.before, err = t.digest.state()
	return err
}

// rewind takes back what was written since the mark.
func (t *tally) rewind(ctx context.Context) (err error) {
	if err = t.Rewind(ctx); err != nil {
		return fmt.Errorf("take a broken line back: %w", err)
	}
	t.bytes = t.marked
	t.digest, err = newDigest(t.before)
	return err
}
