package ccda

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // version 5 UUIDs are made of SHA-1 (RFC 9562); nothing is kept secret by it
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// idNamespace sets the ids of converted resources apart from everybody else's version 5 UUIDs.
const idNamespace = "\x2c\x8a\x4e\x0b\x6f\x3d\x51\xb2\x9e\x47\xd1\x70\x35\xc6\x88\x1f"

// derive gives the version 5 UUID of parts. Each part is written with its length, so that no two lists of parts are the same.
func derive(parts ...string) string {
	name := make([]byte, 0, 256)
	name = append(name, idNamespace...)
	for _, part := range parts {
		name = strconv.AppendInt(name, int64(len(part)), 10)
		name = append(append(name, ':'), part...)
	}
	sum := sha1.Sum(name) //nolint:gosec // as above
	sum[6] = sum[6]&0x0F | 0x50
	sum[8] = sum[8]&0x3F | 0x80
	text := hex.EncodeToString(sum[:16])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// digest gives a short text that stands for an element and all in it, wherever it is in the document. Two elements that differ
// only in the order of attributes, in white space, in the case of UUIDs or in their templates have the same.
func digest(n *node) string {
	return digestOf(n.spell(make([]byte, 0, 4<<10)))
}

func digestOf(content []byte) string {
	sum := sha1.Sum(content) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// spell appends an element in one spelling. Zero bytes, which XML has not, keep its parts apart.
func (n *node) spell(to []byte) []byte {
	if n == nil {
		return to
	}
	if n.name == "" {
		return append(append(to, n.words()...), 0)
	}
	to = append(append(to, '<'), n.name...)
	attrs := n.attrs
	if !slices.IsSortedFunc(attrs, byName) {
		attrs = slices.Clone(attrs)
		slices.SortFunc(attrs, byName)
	}
	if n.name == "entry" { // its type says nothing that is always said
		attrs = nil
	}
	for _, a := range attrs {
		value := a.value
		if a.name == "root" {
			value = strings.ToLower(value)
		}
		to = append(append(to, 0), a.name...)
		to = append(append(to, '='), value...)
	}
	for child := n.first; child != nil; child = child.next {
		if child.name == "templateId" { // two senders may claim different versions of the same
			continue
		}
		to = child.spell(append(to, 0))
	}
	return append(to, '>')
}

func byName(a, b attribute) int { return cmp.Compare(a.name, b.name) }
