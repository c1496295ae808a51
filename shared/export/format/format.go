// Package format converts the NDJSON of an export into the other formats that an organisation can request:
// gzip-compressed NDJSON and one FHIR Bundle. It reads and writes in bounded memory, however long a line is, and
// processes the parts of a file one after the other. The caller decides which formats are created and how they are
// named and stored.
package format

import (
	"compress/gzip"
	"fmt"
	"io"
)

// Part gives the position of a part in its file.
type Part struct {
	First, Last bool
}

// Gzip compresses src (RFC 1952). The header carries neither a name nor a time, so that the same input always gives the
// same bytes. Concatenating the compressed parts of a file gives the compressed file (RFC 1952 section 2.2).
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
