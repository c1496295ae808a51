package cda

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode/utf32"
)

var errEncoding = fmt.Errorf("%w: an encoding that cannot be read", ErrInvalid)

// decoded is a document converted to UTF-8, without characters that XML forbids.
type decoded struct {
	text []byte
	// Replaced counts the byte sequences that are invalid in the document's encoding. Each invalid byte sequence
	// becomes U+FFFD in the text.
	Replaced int
	// Guessed counts the bytes that are invalid in UTF-8 and were decoded as windows-1252, although the document
	// declares UTF-8 or no encoding.
	Guessed int
}

// decode detects a document's encoding (Extensible Markup Language, appendix F): by the byte order mark, the zero bytes
// of UTF-16, validity as UTF-8, and finally the declaration, which is often wrong. If a document declares UTF-8 or no
// encoding, bytes that are not valid UTF-8 are decoded as windows-1252, a superset of ISO-8859-1, and counted. document
// is not modified; text shares its memory if no conversion is needed. The error is ErrInvalid.
func decode(document []byte) (decoded, error) {
	var d decoded
	switch {
	case bytes.HasPrefix(document, []byte{0xEF, 0xBB, 0xBF}):
		d.text = document[3:]
		d.repair()
	case bytes.HasPrefix(document, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(document, []byte{0, 0, 0xFE, 0xFF}):
		if err := d.by(utf32.UTF32(utf32.BigEndian, utf32.ExpectBOM), document); err != nil {
			return d, err
		}
	case bytes.HasPrefix(document, []byte{0xFE, 0xFF}), bytes.HasPrefix(document, []byte{0, '<'}):
		d.from16(document, binary.BigEndian)
	case bytes.HasPrefix(document, []byte{0xFF, 0xFE}), bytes.HasPrefix(document, []byte{'<', 0}):
		d.from16(document, binary.LittleEndian)
	default:
		if err := d.byDeclaration(document); err != nil {
			return d, err
		}
	}
	d.text = withoutControls(d.text)
	return d, nil
}

// byDeclaration decodes a document whose bytes do not reveal its encoding.
func (d *decoded) byDeclaration(document []byte) error {
	of, name := named(declared(document))
	isUTF8 := utf8.Valid(document)
	switch {
	case name == "", name == "utf-8", name == "windows-1252", strings.HasPrefix(name, "utf-16"):
		// A document whose XML declaration is in ASCII can't be UTF-16, even if it declares UTF-16.
	case isEastAsian(name) && (!isUTF8 || hasWideCharacters(document, name)):
		return d.by(of, document)
	case isUTF8:
	case of == nil:
		return errEncoding
	default:
		return d.by(of, document)
	}
	d.text = document
	d.repair()
	if name == "windows-1252" {
		d.Guessed = 0
	}
	return nil
}

// named returns the encoding with the given label and its name in the WHATWG Encoding Standard. If the standard has no
// such label, named returns the encoding from the IANA registry and the label. It returns nil for an unknown encoding.
func named(label string) (encoding.Encoding, string) {
	if of, err := htmlindex.Get(label); err == nil {
		name, err := htmlindex.Name(of)
		if err != nil || name == "replacement" || name == "x-user-defined" {
			return nil, name
		}
		return of, name
	}
	if of, err := ianaindex.IANA.Encoding(label); err == nil && of != nil {
		return of, label
	}
	return nil, label
}

// by decodes a document using its declared encoding.
func (d *decoded) by(of encoding.Encoding, document []byte) error {
	text, err := of.NewDecoder().Bytes(document)
	if err != nil {
		return errEncoding
	}
	d.text, d.Replaced = text, bytes.Count(text, []byte("\uFFFD"))
	return nil
}

func (d *decoded) from16(document []byte, order binary.ByteOrder) {
	d.text = fromUTF16(document, order)
	d.Replaced = bytes.Count(d.text, []byte("\uFFFD"))
}

// repair decodes bytes that are not valid UTF-8 as windows-1252.
func (d *decoded) repair() {
	if !utf8.Valid(d.text) {
		d.text, d.Guessed = fromWindows1252(d.text)
	}
}

// isEastAsian reports whether an encoding has multi-byte characters (encoding.spec.whatwg.org).
func isEastAsian(name string) bool {
	return slices.Contains([]string{"gb18030", "gbk", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "euc-kr"}, name)
}

// hasWideCharacters reports whether a document that is valid UTF-8 is really in the declared East Asian encoding. In
// UTF-8, East Asian characters take three bytes, so East Asian text without three-byte characters is valid UTF-8 only
// by chance. ISO-2022-JP consists of ASCII characters and escape sequences.
func hasWideCharacters(document []byte, name string) bool {
	if name == "iso-2022-jp" {
		return bytes.IndexByte(document, 0x1B) >= 0
	}
	isASCII := true
	for _, b := range document {
		if b >= 0xE0 {
			return false
		}
		isASCII = isASCII && b < utf8.RuneSelf
	}
	return !isASCII
}

// declared returns the encoding in the XML declaration, in lower case, or "" if there is none.
func declared(document []byte) string {
	text := bytes.TrimLeft(document[:min(len(document), 1024)], " \t\r\n")
	if !bytes.HasPrefix(text, []byte("<?xml")) {
		return ""
	}
	declaration, _, _ := strings.Cut(string(text), "?>")
	_, rest, found := strings.Cut(declaration, "encoding")
	rest = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(rest, " \t\r\n"), "="), " \t\r\n")
	if !found || rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	name, _, _ := strings.Cut(rest[1:], rest[:1])
	return strings.ToLower(strings.TrimSpace(name))
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

// windows1252 lists the characters for bytes 0x80 to 0x9F (encoding.spec.whatwg.org/#windows-1252). All other bytes map
// to themselves.
const windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

// fromWindows1252 keeps valid UTF-8 and decodes each other byte as windows-1252, because documents are often assembled
// from parts in different encodings. count is the number of decoded bytes.
func fromWindows1252(document []byte) (text []byte, count int) {
	table := []rune(windows1252)
	out := make([]byte, 0, len(document)+len(document)/16)
	for len(document) > 0 {
		r, size := utf8.DecodeRune(document)
		if r == utf8.RuneError && size == 1 {
			count++
			r = rune(document[0])
			if r >= 0x80 && r < 0xA0 {
				r = table[r-0x80]
			}
		}
		out = utf8.AppendRune(out, r)
		document = document[size:]
	}
	return out, count
}

// withoutControls replaces characters that XML 1.0 forbids (Extensible Markup Language, 2.2) with spaces, because some
// senders write them.
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
