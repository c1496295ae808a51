package ihe

import (
	"regexp"
	"strings"
)

// id is an identifier in another community's spelling. Communities spell the same value differently: an OID with or
// without urn:oid: (RFC 3061), a UUID with or without urn:uuid:, both in either case (RFC 8141, 3.1; RFC 9562, 4). Use
// is to compare ids by value.
type id string

// URN schemes.
const (
	oidScheme  = "urn:oid:"
	uuidScheme = "urn:uuid:"
)

var (
	oid  = regexp.MustCompile(`^[0-2](\.(0|[1-9][0-9]*)){1,63}$`)
	uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// value returns the id in canonical form: OIDs bare, UUIDs bare and in lower case. An extension after an OID's ^ (XDS
// uniqueId) and any other text are unchanged.
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

// is reports whether two ids have the same value. An empty id equals none.
func (i id) is(other id) bool { return i.value() != "" && i.value() == other.value() }

// oid returns the bare OID, or "" if the id is not an OID.
func (i id) oid() string {
	if value := i.value(); oid.MatchString(value) {
		return value
	}
	return ""
}

// urn returns the id as a URN. An id that is neither an OID nor a UUID is returned unchanged.
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
