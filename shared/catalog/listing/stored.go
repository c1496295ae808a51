package listing

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Stored lists are gzipped JSON, a listing a line: what a source's object in the Catalog bucket holds.

// Write writes listings for Stored. The same listings are the same bytes.
func Write(w io.Writer, listings iter.Seq[Listing]) error {
	packed := gzip.NewWriter(w)
	lines := json.NewEncoder(packed)
	lines.SetEscapeHTML(false)
	for l := range listings {
		if err := lines.Encode(l); err != nil {
			return fmt.Errorf("write listing: %w", err)
		}
	}
	if err := packed.Close(); err != nil {
		return fmt.Errorf("write listings: %w", err)
	}
	return nil
}

// Stored gives each listing that Write has written to each, in that order. Errors of each come back as they are.
func Stored(r io.Reader, each func(Listing) error) error {
	unpacked, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return fmt.Errorf("read listings: %w", err)
	}
	lines := json.NewDecoder(unpacked)
	for {
		var l Listing
		switch err := lines.Decode(&l); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read listing: %w", err)
		}
		if err := each(l); err != nil {
			return err
		}
	}
}
