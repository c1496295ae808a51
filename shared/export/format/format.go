// Package format turns the NDJSON of an export into the other forms that an organisation can ask for: the
// same compressed with gzip, and one FHIR Bundle. It reads and writes in bounded memory, however long a line
// is, and one part of a file after the other. Which forms are made, where they are stored and what they are
// called is its caller's matter.
package format

import (
	"compress/gzip"
	"fmt"
	"io"
)

// Part says where in its file a part stands.
type Part struct {
	First, Last bool
}

// Gzip compresses src (RFC 1952). The header carries neither a name nor a time, so that the same input gives the same
// bytes whenever it is repeated. The parts of a file, each compressed, are the file compressed (RFC 1952 section 2.2).
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
