package listing

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// open decompresses a list. If the input can't be a list, open rejects it without reading it completely.
func open(list io.Reader) (*bufio.Reader, error) {
	const ahead = 64 << 10
	opened := bufio.NewReaderSize(list, ahead)
	if magic, _ := opened.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(opened)
		if err != nil {
			return nil, refused(NotFormat)
		}
		opened = bufio.NewReaderSize(unpacked, ahead)
	}
	opened = bufio.NewReaderSize(&bounded{from: opened, left: maxBytes}, ahead)
	if mark, _ := opened.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = opened.Discard(len(mark))
	}
	start, err := opened.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err //nolint:wrapcheck // bounded's own
	}
	start = bytes.ToLower(bytes.TrimSpace(start))
	switch {
	case len(start) == 0:
		return nil, refused(Empty)
	case bytes.HasPrefix(start, []byte("<!doctype html")), bytes.HasPrefix(start, []byte("<html")):
		return nil, refused(IsPage)
	}
	return opened, nil
}

// bounded is a reader that fails if a list is too large or its gzip data is truncated.
type bounded struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, refused(TooLarge)
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = refused(Cut)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		err = refused(NotFormat)
	case err != nil && !errors.Is(err, io.EOF):
		err = fmt.Errorf("read list: %w", err)
	}
	return n, err
}
