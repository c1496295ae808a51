package serve

import (
	"bytes"
	"context"
	"errors"
	"strconv"
)

// Format of a snapshot file: a JSON object with one record per line, ordered by ID (package snapshot). IDs are hashes,
// so they are evenly distributed and a record's offset can be estimated.
const (
	// span is the number of bytes of one read. With 40,000 records of 600 bytes, estimates are rarely off by more than
	// span.
	span = 256 << 10
	// maxSpan is the maximum size of a line.
	maxSpan = 16 << 20
	// guesses is the maximum number of position estimates. A binary search follows, so unevenly distributed IDs are
	// also found.
	guesses = 3
)

// extent is the part of a file in which a record's line must begin if the file contains that record.
type extent struct {
	low, high   int64   // low is the offset of a line's start
	first, last float64 // estimated share of all IDs that precede low and high
}

// findLine returns the record with the given ID in a file of the given size. It returns nil if the file has no such
// record.
func findLine(ctx context.Context, ranges Ranges, key string, size int64, id string) ([]byte, error) {
	s := extent{low: int64(len("{\n")), high: size, first: 0, last: 1}
	width := int64(span)
	for round := 0; s.low < s.high; round++ {
		from := s.guess(id, width, round < guesses)
		part, _, err := ranges.Range(ctx, key, from-1, width) // One byte early, to include the previous line's end.
		if err != nil {
			return nil, err
		}
		isLast := from-1+int64(len(part)) >= size
		start, end := bytes.IndexByte(part, '\n')+1, bytes.LastIndexByte(part, '\n')+1
		lines := part[start:end]
		if isLast {
			lines = bytes.TrimSuffix(lines, []byte("}\n"))
		}
		switch {
		case len(lines) == 0 && isLast:
			s.high = from
		case len(lines) == 0 && width >= maxSpan:
			return nil, errors.New("a line of the catalogue has no end")
		case len(lines) == 0:
			width *= 2
		case id < idOf(lines):
			s.high, s.last = from, share(idOf(lines))
		case id > idOf(lastOf(lines)):
			s.low, s.first = from-1+int64(end), share(idOf(lastOf(lines)))
		default:
			return valueOf(lines, id), nil
		}
	}
	return nil, nil
}

// guess returns the offset to read next.
func (s extent) guess(id string, width int64, evenly bool) int64 {
	middle := float64(s.high-s.low) / 2
	if evenly && s.last > s.first {
		middle = float64(s.high-s.low) * (share(id) - s.first) / (s.last - s.first)
	}
	from := s.low + int64(middle) - width/2
	return min(max(from, s.low), s.high-1)
}

const idLength = 36

// idOf returns the ID of the first line, which begins with "<id>":{…}.
func idOf(lines []byte) string {
	return string(lines[min(1, len(lines)):min(1+idLength, len(lines))])
}

func lastOf(lines []byte) []byte {
	return lines[bytes.LastIndexByte(lines[:len(lines)-1], '\n')+1:]
}

// valueOf returns the record with the given ID in lines, or nil.
func valueOf(lines []byte, id string) []byte {
	name := []byte(`"` + id + `":`)
	for line := range bytes.SplitSeq(lines, []byte{'\n'}) {
		if value, ok := bytes.CutPrefix(line, name); ok {
			return bytes.TrimSuffix(value, []byte{','})
		}
	}
	return nil
}

// share estimates the fraction of all IDs that precede an ID.
func share(id string) float64 {
	first, err := strconv.ParseUint(id[:min(len(id), digits)], 16, 64)
	if err != nil {
		return 0 // A binary search locates IDs that are not UUIDs.
	}
	return float64(first) / (1 << (4 * digits))
}

// digits is the number of leading hex digits of an ID that an estimate uses.
const digits = 8
