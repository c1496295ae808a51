package cda

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // tells elements apart; nothing is kept secret by it
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"recordbridge/shared/fhir/ccda/terms"
)

// RealID returns the key of the element's first globally unique id, or "". A root without an extension is globally
// unique only if it is a UUID, because senders write their own OID as the root.
func RealID(n *Node) string {
	for id := range n.Each("id") {
		if key := IDKey(id); key != "" {
			return key
		}
	}
	return ""
}

// IDKey returns an II in canonical form for comparison, or "" if it identifies nothing.
func IDKey(id *Node) string {
	root, extension := strings.ToLower(id.Attr("root")), id.Attr("extension")
	switch {
	case id.Attr("nullFlavor") != "":
		return ""
	case terms.IsUUID(root) || extension != "" && root != "":
		return root + "|" + extension
	case terms.IsOID(root) && extension == "" && strings.Count(root, ".") > 10:
		return root + "|" // Some senders use a separate OID arc for each act.
	}
	return ""
}

// Digest returns a hash of an element and its content. The hash doesn't depend on the element's position, the order of
// attributes, white space, the case of UUIDs, or templates.
func Digest(n *Node) string {
	s := speller{hash: sha1.New()} //nolint:gosec // as above
	s.buffer = make([]byte, 0, 4<<10)
	s.spell(n)
	s.hash.Write(s.buffer)
	return hex.EncodeToString(s.hash.Sum(nil))
}

// DigestOfWords returns the digest that DigestOf would return for the result of Words, without holding that text in
// memory.
func DigestOfWords(n *Node) string {
	s := speller{hash: sha1.New()} //nolint:gosec // as above
	if n != nil {
		(&words{text: &s}).node(n)
	}
	s.hash.Write(s.buffer)
	return hex.EncodeToString(s.hash.Sum(nil))
}

// speller hashes the data written to it.
type speller struct {
	hash   hash.Hash
	buffer []byte
}

// flushAt is the buffer size in bytes at which a speller hashes its buffer.
const flushAt = 16 << 10

// WriteString implements io.StringWriter.
func (s *speller) WriteString(text string) (int, error) {
	size := len(text)
	for len(text) > 0 {
		some := text[:min(len(text), flushAt)]
		s.buffer = append(s.buffer, some...)
		text = text[len(some):]
		if len(s.buffer) >= flushAt {
			s.hash.Write(s.buffer)
			s.buffer = s.buffer[:0]
		}
	}
	return size, nil
}

// WriteByte implements io.ByteWriter.
func (s *speller) WriteByte(c byte) error {
	s.buffer = append(s.buffer, c)
	return nil
}

// DigestOf returns a hash of content.
func DigestOf[Text string | []byte](content Text) string {
	hash := sha1.New() //nolint:gosec // as above
	var part [4 << 10]byte
	for len(content) > 0 {
		n := copy(part[:], content)
		hash.Write(part[:n])
		content = content[n:]
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func byName(a, b attribute) int { return cmp.Compare(a.name, b.name) }

// PatientKeys returns the keys of a document's patient ids.
func PatientKeys(document *Node) []string {
	var keys []string
	for id := range document.At("recordTarget", "patientRole").Each("id") {
		if key := IDKey(id); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// spell writes an element in canonical form. Zero bytes, which XML forbids, separate the element's parts.
func (s *speller) spell(n *Node) {
	if n == nil {
		return
	}
	if n.Name == "" {
		(&words{text: s}).node(n)
		s.buffer = append(s.buffer, 0)
		return
	}
	s.buffer = append(append(s.buffer, '<'), n.Name...)
	attrs := n.attrs
	if !slices.IsSortedFunc(attrs, byName) {
		attrs = slices.Clone(attrs)
		slices.SortFunc(attrs, byName)
	}
	if n.Name == "entry" { // The optional attributes of an entry do not change its meaning.
		attrs = nil
	}
	for _, a := range attrs {
		value := a.value
		if a.name == "root" {
			value = strings.ToLower(value)
		}
		s.buffer = append(append(s.buffer, 0), a.name...)
		s.buffer = append(s.buffer, '=')
		_, _ = s.WriteString(value) // WriteString never fails.
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if child.Name == "templateId" { // Senders may state different versions of a template.
			continue
		}
		s.buffer = append(s.buffer, 0)
		s.spell(child)
	}
	s.buffer = append(s.buffer, '>')
}
