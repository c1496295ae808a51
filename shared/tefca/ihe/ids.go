package ihe

import (
	"regexp"
	"strings"
)

// id is an identifier as another community writes it. An OID may have the prefix urn:oid: (RFC 3061), and a UUID
// urn:uuid:. Case may also differ (RFC 8141, 3.1; RFC 9562, 4). To compare IDs by value, use the method is.
type id string

// Prefixes of the URN schemes.
const (
	oidScheme  = "urn:oid:"
	uuidScheme = "urn:uuid:"
)

var (
	oid  = regexp.MustCompile(`^[0-2](\.(0|[1-9][0-9]*)){1,63}$`)
	uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// value returns the ID's canonical form: an OID without its prefix, or a UUID in lower case without its prefix. Any
// other text is unchanged, including an extension after an OID's ^ (XDS uniqueId).
func (i id) value() string {
	text := strings.TrimSpace(string(i))
	bare := withoutScheme(withoutScheme(text, uuidScheme), oidScheme)
	if uuid.MatchString(bare) {
		return strings.ToLower(bare)
	}
	if root, _, _ := strings.Cut(bare, "^"); oid.MatchString(root) {
		return bare
	}
	return text
}

// is reports whether two IDs have the same value. An empty ID is not equal to any ID, even an empty one.
func (i id) is(other id) bool { return i.value() != "" && i.value() == other.value() }

// oid returns the OID without its prefix, or "" if the ID is not an OID.
func (i id) oid() string {
	if value := i.value(); oid.MatchString(value) {
		return value
	}
	return ""
}

// urn returns the ID as a URN. If the ID is neither an OID nor a UUID, urn returns it unchanged.
func (i id) urn() string {
	switch value := i.value(); {
	case uuid.MatchString(value):
		return uuidScheme + value
	case i.oid() != "":
		return oidScheme + value
	}
	return string(i)
}

func withoutScheme(text, scheme string) string {
	if len(text) > len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
		return text[len(scheme):]
	}
	return text
}
