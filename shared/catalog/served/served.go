// Package served maps each brand to the endpoints that serve its patients. The map is used in its encoded form.
// Searches use the map to demote brands whose endpoints are down, without reading the entire catalogue.
package served

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"recordbridge/shared/catalog/record"
	"recordbridge/shared/words/ids"
)

// Format of a Map: the magic, followed by one entry per searchable brand, ordered by ID. An entry is the brand's ID (16
// bytes), the number of endpoints (32 bits, little-endian), and each endpoint's ID (16 bytes). Brands and endpoints
// whose IDs are not UUIDs are omitted.
const (
	magic   = "rb-served 1\n"
	idBytes = 16
	maxSize = 64 << 20
)

// Map maps brands to the endpoints that serve their patients. The zero Map is empty.
type Map struct{ brands []byte }

// Of returns the Map for a catalogue's searchable brands.
func Of(c record.Catalog) Map {
	var m Map
	for _, id := range slices.Sorted(maps.Keys(c.Brands)) {
		brand := c.Brands[id]
		name, ok := parse(id)
		if !ok || brand.Hidden || brand.RemovedAt != nil {
			continue
		}
		var endpoints []byte
		for _, portal := range brand.PortalIDs {
			for _, endpoint := range c.Portals[portal].EndpointIDs {
				if one, ok := parse(endpoint); ok {
					endpoints = append(endpoints, one[:]...)
				}
			}
		}
		m.brands = append(m.brands, name[:]...)
		//nolint:gosec // a brand has few
		m.brands = binary.LittleEndian.AppendUint32(m.brands, uint32(len(endpoints)/idBytes))
		m.brands = append(m.brands, endpoints...)
	}
	return m
}

// Write writes the Map in the format that Read accepts.
func (m Map) Write(w io.Writer) error {
	if _, err := w.Write(append([]byte(magic), m.brands...)); err != nil {
		return fmt.Errorf("served: write: %w", err)
	}
	return nil
}

var errForm = errors.New("served: these are not the endpoints of brands")

// Read reads a Map written by Write.
func Read(r io.Reader) (Map, error) {
	document, err := io.ReadAll(io.LimitReader(r, maxSize))
	if err != nil {
		return Map{}, fmt.Errorf("served: read: %w", err)
	}
	all, ok := bytes.CutPrefix(document, []byte(magic))
	for left := all; ok && len(left) > 0; {
		_, left, ok = cut(left)
	}
	if !ok {
		return Map{}, errForm
	}
	return Map{brands: all}, nil
}

// All yields each brand's ID with the IDs of the brand's endpoints.
func (m Map) All() iter.Seq2[string, []string] {
	return func(yield func(string, []string) bool) {
		for left := m.brands; len(left) > 0; {
			var one []byte
			one, left, _ = cut(left)
			endpoints := make([]string, 0, len(one)/idBytes)
			for id := range slices.Chunk(one[idBytes+4:], idBytes) {
				endpoints = append(endpoints, dashed(id))
			}
			if !yield(dashed(one[:idBytes]), endpoints) {
				return
			}
		}
	}
}

// cut splits the first brand's entry from left.
func cut(left []byte) (one, rest []byte, ok bool) {
	if len(left) < idBytes+4 {
		return nil, nil, false
	}
	size := idBytes + 4 + idBytes*uint64(binary.LittleEndian.Uint32(left[idBytes:]))
	if size > uint64(len(left)) {
		return nil, nil, false
	}
	return left[:size], left[size:], true
}

func parse(id string) (raw [idBytes]byte, ok bool) {
	id, ok = ids.ParseUUID(id)
	if !ok {
		return raw, false
	}
	_, err := hex.Decode(raw[:], []byte(ids.TaskID(id)))
	return raw, err == nil
}

func dashed(raw []byte) string {
	text := hex.EncodeToString(raw)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
