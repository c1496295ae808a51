package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// Format of an index: the magic, the size of the data after the checksum, the checksum (CRC-32C), and the parts in
// Index.parts, each preceded by its size. All numbers are 32-bit and little-endian. The data is used without being
// copied. Reading an index validates it once, so all of its references are valid.
const (
	magic     = "rb-catalog-index 1\n" // identifies an index; ends with the format's version
	headSize  = len(magic) + 8
	maxSize   = 256 << 20
	numberLen = 4
)

// errForm means that data is not an index of this format version.
var errForm = errors.New("search: not an index of this version")

// numbers is a sequence of 32-bit numbers in the format's byte order.
type numbers string

func (n numbers) len() uint32 { return uint32(len(n) / numberLen) } //nolint:gosec // G115: maxSize bounds it

func (n numbers) at(i uint32) uint32 {
	b := n[numberLen*i : numberLen*i+numberLen]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func (n numbers) all(yield func(uint32) bool) {
	for i := range n.len() {
		if !yield(n.at(i)) {
			return
		}
	}
}

// texts is a sequence of byte strings stored consecutively.
type texts struct {
	ends  string // end offset of each text, encoded as numbers
	bytes string
}

func (t *texts) len() uint32 { return numbers(t.ends).len() }

func (t *texts) at(i uint32) string {
	from, to := span(t.ends, i)
	return t.bytes[from:to]
}

// rows is a sequence of lists of numbers stored consecutively.
type rows struct {
	ends   string // end of each row, as a number of values
	values string // the values of all rows, encoded as numbers
}

func (r *rows) len() uint32 { return numbers(r.ends).len() }

func (r *rows) at(i uint32) numbers {
	from, to := span(r.ends, i)
	return numbers(r.values[numberLen*from : numberLen*to])
}

// span returns the start and end of element i.
func span(ends string, i uint32) (from, to uint32) {
	if i > 0 {
		from = numbers(ends).at(i - 1)
	}
	return from, numbers(ends).at(i)
}

// Write writes the index in the format that Read accepts.
func (x *Index) Write(w io.Writer) error {
	size := 0
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for _, part := range x.parts() {
		_, _ = sum.Write(sizeOf(*part)) // A hash's Write never fails.
		_, _ = io.WriteString(sum, *part)
		size += numberLen + len(*part)
	}
	if size > maxSize {
		return fmt.Errorf("search: an index of %d bytes is too large", size)
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), uint32(size))
	head = binary.LittleEndian.AppendUint32(head, sum.Sum32())
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("search: writing an index: %w", err)
	}
	for _, part := range x.parts() {
		if _, err := w.Write(sizeOf(*part)); err != nil {
			return fmt.Errorf("search: writing an index: %w", err)
		}
		if _, err := io.WriteString(w, *part); err != nil {
			return fmt.Errorf("search: writing an index: %w", err)
		}
	}
	return nil
}

func sizeOf(part string) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(len(part))) //nolint:gosec // G115: maxSize
}

// Read reads an index written by Write. It does not read beyond the end of the index. Read fails if the data has
// another format, is damaged, or can't be read.
func Read(r io.Reader) (*Index, error) {
	head := make([]byte, headSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("search: reading an index: %w", err)
	}
	size := binary.LittleEndian.Uint32(head[len(magic):])
	if string(head[:len(magic)]) != magic || size > maxSize {
		return nil, errForm
	}
	var body strings.Builder
	body.Grow(int(size))
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.CopyN(io.MultiWriter(&body, sum), r, int64(size)); err != nil {
		return nil, fmt.Errorf("search: reading an index: %w", err)
	}
	if sum.Sum32() != binary.LittleEndian.Uint32(head[len(magic)+numberLen:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", errForm)
	}
	return open(body.String())
}

// open creates an index from the data that follows the header.
func open(body string) (*Index, error) {
	x := &Index{}
	for _, part := range x.parts() {
		if len(body) < numberLen {
			return nil, fmt.Errorf("%w: it is too short", errForm)
		}
		size := int(numbers(body).at(0))
		body = body[numberLen:]
		if size > len(body) {
			return nil, fmt.Errorf("%w: it is too short", errForm)
		}
		*part, body = body[:size], body[size:]
	}
	if body != "" {
		return nil, fmt.Errorf("%w: it is too long", errForm)
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	x.prepare()
	return x, nil
}
