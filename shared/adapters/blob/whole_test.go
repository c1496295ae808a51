package blob_test

import (
	"errors"
	"io"
	"testing"

	"recordbridge/infra/testkit/expect"
	"recordbridge/shared/words/fault"
)

func TestBucketWriteIsAtomic(t *testing.T) {
	t.Parallel()
	w, want := newWorld(t), noise(part+1)
	expect.NoError(t, w.bucket.Write(t.Context(), "a", contentType, func(out io.Writer) error {
		_, err := out.Write(want)
		return err
	}))
	expect.NoError(t, w.compare(t, "a", want))
	expect.NoError(t, w.bucket.Put(t.Context(), "c", contentType, want[:7]))
	expect.NoError(t, w.compare(t, "c", want[:7]))
	errBroken := errors.New("broken off")
	err := w.bucket.Write(t.Context(), "b", contentType, func(out io.Writer) error {
		_, _ = out.Write(want)
		return errBroken
	})
	if !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
	_, err = w.bucket.Open(t.Context(), "b")
	if !errors.Is(err, fault.NotFound) || w.calls[len(w.calls)-2] != "AbortMultipartUpload" {
		t.Errorf("%v after %v", err, w.calls)
	}
}
