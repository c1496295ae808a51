package datatype

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// textWriter is a strings.Builder or a bufio.Writer. A bufio.Writer returns its errors from Flush.
type textWriter interface {
	io.StringWriter
	io.ByteWriter
}

// large returns the output of write as a Large text without holding it in memory.
func (r *contents) large(write func(textWriter)) *r4.Large {
	large, err := r.account.Sources().Text(buffered(write))
	if err != nil { // Only a write to the hash could fail, and hash writes never do.
		return nil
	}
	return large
}

// largeData is like large but for bytes.
func (r *contents) largeData(write func(textWriter)) *r4.Large {
	large, err := r.account.Sources().Data(buffered(write))
	if err != nil { // Only a write to the hash could fail, and hash writes never do.
		return nil
	}
	return large
}

// buffered adapts write to an io.Writer through a buffer.
func buffered(write func(textWriter)) func(io.Writer) error {
	return func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 32<<10)
		write(b)
		return b.Flush()
	}
}

// Attach sets an attachment's data to the content of an ED.
func (r *contents) Attach(a *r4.Attachment, n *cda.Node) { a.Data, a.Large = r.Data(n) }

// Data returns the content of an ED, or a Large if it is too large to be held in memory.
func (r *contents) Data(n *cda.Node) ([]byte, *r4.Large) {
	if !r.document.IsLarge(n) {
		return BytesOf(n), nil
	}
	text, isOnly := n.OnlyText()
	if !isOnly {
		var b strings.Builder
		n.Write(&b)
		text = b.String()
	}
	if isPacked(n) {
		for _, from := range []struct {
			encoding *base64.Encoding
			cut      string
		}{{base64.StdEncoding, ""}, {base64.RawStdEncoding, "="}} {
			unpack := func(w io.Writer) error { return unpack(w, from.encoding, text, from.cut) }
			if large, err := r.account.Sources().Data(unpack); err == nil {
				return nil, large
			}
		}
	}
	text = strings.TrimSpace(text)
	return nil, r.largeData(func(w textWriter) { _, _ = w.WriteString(text) })
}

// isPacked reports whether an ED is base64-encoded: either it declares base64, or it is not text and declares no
// representation.
func isPacked(n *cda.Node) bool {
	return n.Attr("representation") == "B64" ||
		n.Attr("representation") == "" && !strings.HasPrefix(n.Attr("mediaType"), "text/")
}

var errPadding = errors.New("datatype: padding inside of base64")

// unpack writes the decoded base64 text to w, ignoring spaces and any trailing characters in cut.
func unpack(w io.Writer, from *base64.Encoding, text, cut string) error {
	text = strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(cut, r) })
	var part [32 << 10]byte // a multiple of four, the size of a base64 group
	var raw [24 << 10]byte
	filled, isOver := 0, false
	flush := func() error {
		if isOver {
			return errPadding
		}
		n, err := from.Decode(raw[:], part[:filled])
		isOver = n < len(raw)
		filled = 0
		if err != nil {
			return fmt.Errorf("datatype: decode base64: %w", err)
		}
		if _, err := w.Write(raw[:n]); err != nil {
			return fmt.Errorf("datatype: write content: %w", err)
		}
		return nil
	}
	for field := range strings.FieldsSeq(text) {
		for len(field) > 0 {
			if filled == len(part) {
				if err := flush(); err != nil {
					return err
				}
			}
			n := copy(part[filled:], field)
			filled, field = filled+n, field[n:]
		}
	}
	return flush()
}
