// Package format converts an export's NDJSON to the other formats that an organisation can request: gzip-compressed
// NDJSON and a FHIR Bundle. Memory use is bounded, regardless of line length. A file's parts are processed one after
// another. The caller decides which formats to create and how to name and store the files.
package format

import (
	"compress/gzip"
	"fmt"
	"io"
)

// Part describes the position of a part within its file.
type Part struct {
	First, Last bool
}

// Gzip compresses src (RFC 1952). The gzip header does not contain a name or a time, so the same input always produces
// the same bytes. Concatenating a file's compressed parts in order yields the compressed file (RFC 1952 section 2.2).
func Gzip(dst io.Writer, src io.Reader) error {
	out := gzip.NewWriter(dst)
	if _, err := io.Copy(out, src); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("end compressed data: %w", err)
	}
	return nil
}
