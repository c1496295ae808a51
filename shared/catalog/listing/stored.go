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

// Format of a stored list: gzipped JSON with one listing per line. Each source's object in the Catalog bucket has this
// format.

// Write writes listings in the format that Stored reads. The same listings always produce the same bytes.
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

// Stored calls each for every listing that Write has written, in order. If each returns an error, Stored returns it
// unchanged.
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
