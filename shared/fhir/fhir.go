package fhir

import (
	"errors"
	"fmt"
)

// MaxPage is the maximum size in bytes of a JSON document from a FHIR server (docs/develop/architecture.md, "Bounds").
const MaxPage = 32 << 20

// maxDepth limits the nesting of arrays and objects, because the scanner is recursive. In practice, resources have
// fewer than 30 levels.
const maxDepth = 128

// ErrInvalid means that a document is malformed: not JSON, not UTF-8, nested too deeply, too large, or not the expected
// resource or Bundle. The error's text contains no part of the document.
var ErrInvalid = errors.New("fhir: invalid document")

// ErrTooMany means that a page has more than maxEntries entries. It wraps ErrInvalid. A request for a smaller page may
// succeed.
var ErrTooMany = fmt.Errorf("%w: too many entries", ErrInvalid)

// maxEntries limits the number of entries on a page, because an entry of a few bytes takes hundreds of bytes in memory.
// Even a complete record, which a server that ignores _count returns on one page, has fewer entries.
const maxEntries = 50_000

// Limits on the parsed content of a document (docs/develop/architecture.md, Bounds).
const (
	// MaxAddress is the maximum length, in bytes, of a reference, attachment URL or next link. Servers reject longer
	// URLs.
	MaxAddress = 8 << 10
	// maxWord is the maximum length of a name, id or code, in bytes before unescaping.
	maxWord = 512
	// maxFound and maxFoundBytes limit the references and attachments stored for one resource.
	maxFound      = 50_000
	maxFoundBytes = 4 << 20
)

var (
	errSyntax    = fmt.Errorf("%w: not JSON in UTF-8", ErrInvalid)
	errDepth     = fmt.Errorf("%w: nested too deeply", ErrInvalid)
	errSize      = fmt.Errorf("%w: too large", ErrInvalid)
	errResource  = fmt.Errorf("%w: no object with one valid resourceType", ErrInvalid)
	errBundle    = fmt.Errorf("%w: no Bundle", ErrInvalid)
	errStatement = fmt.Errorf("%w: no CapabilityStatement", ErrInvalid)
)

// ValidType reports whether text has the form of a resource type name. Types of any FHIR version and custom types are
// accepted, because servers determine which types exist.
func ValidType(text string) bool {
	if text == "" || len(text) > 64 || text[0] < 'A' || text[0] > 'Z' {
		return false
	}
	for i := range len(text) {
		if !isLetter(text[i]) {
			return false
		}
	}
	return true
}

// ValidID reports whether text is a FHIR id (datatypes.html#id). The ids "." and ".." are rejected, although the data
// type allows them, because they would change a URL's path.
func ValidID(text string) bool {
	if text == "" || len(text) > 64 || text == "." || text == ".." {
		return false
	}
	for i := range len(text) {
		if c := text[i]; !isLetter(c) && !isDigit(c) && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
