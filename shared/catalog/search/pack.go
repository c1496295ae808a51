package search

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

const (
	// presetSize is the size of the compression dictionary for sources. A larger dictionary would make an index
	// slightly smaller, but each hit slower.
	presetSize = 8 << 10
	samples    = 64
	// maxSource is the maximum size of a decompressed source. Without this limit, a damaged source could decompress to
	// any size.
	maxSource = 4 << 20
)

// pack compresses each source separately, so that reading a hit decompresses only its own source. The preset dictionary
// consists of sample sources, because sources share most of their text.
func (x *Index) pack(sources []string) error {
	preset := ""
	for i := 0; i < len(sources) && len(preset) < presetSize; i += 1 + len(sources)/samples {
		preset += sources[i]
	}
	preset = preset[:min(len(preset), presetSize)]
	var packed bytes.Buffer
	w, err := flate.NewWriterDict(&packed, flate.BestCompression, []byte(preset))
	if err != nil {
		return fmt.Errorf("search: packing sources: %w", err)
	}
	all := make([]string, len(sources))
	for i, source := range sources {
		if len(source) > maxSource {
			return fmt.Errorf("search: a source of %d bytes is too large", len(source))
		}
		packed.Reset()
		w.Reset(&packed)
		if _, err := io.WriteString(w, source); err != nil {
			return fmt.Errorf("search: packing sources: %w", err)
		}
		if err := w.Close(); err != nil {
			return fmt.Errorf("search: packing sources: %w", err)
		}
		all[i] = packed.String()
	}
	x.preset, x.sources = textsOf([]string{preset}), textsOf(all)
	return nil
}

// unpacker is a decompressor that can be reset for the next source.
type unpacker interface {
	io.Reader
	flate.Resetter
}

// source returns a brand's decompressed source.
func (x *Index) source(brand uint32) (json.RawMessage, error) {
	r, ok := x.readers.Get().(unpacker)
	if !ok {
		r, _ = flate.NewReader(nil).(unpacker) // Package flate guarantees that the reader has this type.
	}
	defer x.readers.Put(r)
	if err := r.Reset(strings.NewReader(x.sources.at(brand)), []byte(x.preset.at(0))); err != nil {
		return nil, fmt.Errorf("search: a source: %w", err)
	}
	source, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	if err != nil {
		return nil, fmt.Errorf("search: a source: %w", err)
	}
	if len(source) > maxSource {
		return nil, fmt.Errorf("%w: a source is too large", errForm)
	}
	return source, nil
}
