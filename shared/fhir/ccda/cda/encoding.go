package cda

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// utf8Text returns a document in UTF-8 without characters that XML forbids. It goes by the bytes and not by what the XML
// declaration says, which is often wrong: UTF-16 shows by its byte order mark or its zero bytes, and what is not UTF-8
// is taken for windows-1252, of which ISO-8859-1 is a part. The document itself is not changed; it is returned where it
// is fine.
func utf8Text(document []byte) []byte {
	switch {
	case bytes.HasPrefix(document, []byte{0xEF, 0xBB, 0xBF}):
		document = document[3:]
	case bytes.HasPrefix(document, []byte{0xFE, 0xFF}), bytes.HasPrefix(document, []byte{0, '<'}):
		document = fromUTF16(document, binary.BigEndian)
	case bytes.HasPrefix(document, []byte{0xFF, 0xFE}), bytes.HasPrefix(document, []byte{'<', 0}):
		document = fromUTF16(document, binary.LittleEndian)
	}
	if !utf8.Valid(document) {
		document = fromWindows1252(document)
	}
	return withoutControls(document)
}

func fromUTF16(document []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(document)/2)
	for ; len(document) >= 2; document = document[2:] {
		units = append(units, order.Uint16(document))
	}
	out := make([]byte, 0, len(units)+len(units)/8)
	for _, r := range utf16.Decode(units) {
		if r != '\uFEFF' {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// windows1252 has the characters of the bytes 0x80 to 0x9F (encoding.spec.whatwg.org/#windows-1252); all others are
// their own.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

// fromWindows1252 keeps what is UTF-8 and reads the other bytes one by one: documents are put together of parts.
func fromWindows1252(document []byte) []byte {
	table := []rune(windows1252)
	out := make([]byte, 0, len(document)+len(document)/16)
	for len(document) > 0 {
		r, size := utf8.DecodeRune(document)
		if r == utf8.RuneError && size == 1 {
			r = rune(document[0])
			if r >= 0x80 && r < 0xA0 {
				r = table[r-0x80]
			}
		}
		out = utf8.AppendRune(out, r)
		document = document[size:]
	}
	return out
}

// withoutControls puts spaces for the characters that XML 1.0 forbids and senders leave in (Extensible Markup Language,
// 2.2).
func withoutControls(document []byte) []byte {
	clean := true
	for i, b := range document {
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' ||
			b == 0xEF && bytes.HasPrefix(document[i:], []byte{0xEF, 0xBF}) {
			clean = false
			break
		}
	}
	if clean {
		return document
	}
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, document)
}
