package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
)

// marks is a set of names, each stored as an eight-byte hash.
type marks map[uint64]struct{}

// MarkOf returns the hash that identifies a name or link in a checkpoint.
func MarkOf[T string | []byte](text T) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:8])
}

func (m marks) has(mark uint64) bool {
	_, known := m[mark]
	return known
}

// add adds a mark to the set and reports whether it was new.
func (m marks) add(mark uint64) bool {
	if m.has(mark) {
		return false
	}
	m[mark] = struct{}{}
	return true
}

// pack encodes the set's hashes in chunks of at most size bytes. The size must be a multiple of 8.
func (m marks) pack(size int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		part := make([]byte, 0, size)
		for mark := range m {
			if part = binary.BigEndian.AppendUint64(part, mark); len(part) < size {
				continue
			}
			if !yield(part) {
				return
			}
			part = part[:0]
		}
		if len(part) > 0 {
			yield(part)
		}
	}
}

// unpack adds the hashes from a chunk returned by pack.
func (m marks) unpack(packed []byte) {
	for mark := range slices.Chunk(packed, 8) {
		if len(mark) == 8 {
			m[binary.BigEndian.Uint64(mark)] = struct{}{}
		}
	}
}
