package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The form of an index: magic, the size of what follows its checksum, that checksum (CRC-32C), and the sections in the order of
// Index.sections, each with its size in front. All numbers are of 32 bits, the low byte first. Everything is used where it lies: reading
// an index is one look through it, which shows that nothing in it points outside.
const (
	magic   = "rb-catalog-index 1\n" // ends in the form's version
	maxSize = 256 << 20
)

// errForm is what is no index, or one of another version.
var errForm = errors.New("search: this is no index of this version") //nolint:gochecknoglobals // an error value

// texts are byte strings, all in one piece.
type texts struct {
	ends  numbers // where each ends
	bytes string
}

func (t texts) len() int { return t.ends.len() }

func (t texts) at(i uint32) string {
	from := uint32(0)
	if i > 0 {
		from = t.ends.at(i - 1)
	}
	return t.bytes[from:t.ends.at(i)]
}

// rows are lists of numbers, all in one piece.
type rows struct {
	ends   numbers // where each ends
	values numbers
}

func (r rows) len() int { return r.ends.len() }

func (r rows) at(i uint32) numbers {
	from := uint32(0)
	if i > 0 {
		from = r.ends.at(i - 1)
	}
	return r.values[4*from : 4*r.ends.at(i)]
}

// numbers are of 32 bits, as they lie in the file.
type numbers []byte

func (n numbers) len() int { return len(n) / 4 }

func (n numbers) at(i uint32) uint32 { return binary.LittleEndian.Uint32(n[4*i:]) }

// Write writes the index in its form.
func (x *Index) Write(w io.Writer) error {
	var body []byte
	for _, s := range x.sections() {
		for _, part := range s.parts() {
			body = binary.LittleEndian.AppendUint32(body, uint32(len(part))) //nolint:gosec // maxSize
			body = append(body, part...)
		}
	}
	if len(body) > maxSize {
		return fmt.Errorf("search: an index of %d bytes is too large", len(body))
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(body)))        //nolint:gosec // maxSize
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(body, castagnoli())) //nolint:gosec // maxSize
	for _, part := range [][]byte{head, body} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("search: writing an index: %w", err)
		}
	}
	return nil
}

// Read reads what Write wrote. The error says that the bytes are something else, are damaged, or could not be read.
func Read(r io.Reader) (*Index, error) {
	head := make([]byte, len(magic)+8)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("search: reading an index: %w", err)
	}
	size := binary.LittleEndian.Uint32(head[len(magic):])
	if !bytes.HasPrefix(head, []byte(magic)) || size > maxSize {
		return nil, errForm
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("search: reading an index: %w", err)
	}
	if crc32.Checksum(body, castagnoli()) != binary.LittleEndian.Uint32(head[len(magic)+4:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", errForm)
	}
	return open(body)
}

// open makes an index of the sections of body.
func open(body []byte) (*Index, error) {
	x := &Index{}
	rest := cut{left: body}
	for _, s := range x.sections() {
		s.take(&rest)
	}
	if rest.failed || len(rest.left) > 0 {
		return nil, fmt.Errorf("%w: its sections do not fit", errForm)
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	x.prepare()
	return x, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// section is a part of the form.
type section interface {
	parts() [][]byte
	take(from *cut)
}

func (t *texts) parts() [][]byte { return [][]byte{t.ends, []byte(t.bytes)} }

func (t *texts) take(from *cut) { t.ends, t.bytes = from.next(), string(from.next()) }

func (r *rows) parts() [][]byte { return [][]byte{r.ends, r.values} }

func (r *rows) take(from *cut) { r.ends, r.values = from.next(), from.next() }

// cut takes parts off the front of bytes.
type cut struct {
	left   []byte
	failed bool
}

func (c *cut) next() []byte {
	if len(c.left) < 4 {
		c.failed = true
		return nil
	}
	size := uint64(binary.LittleEndian.Uint32(c.left))
	if size > uint64(len(c.left)-4) {
		c.failed = true
		return nil
	}
	part := c.left[4 : 4+size : 4+size]
	c.left = c.left[4+size:]
	return part
}
