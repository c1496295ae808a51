package ihe

import (
	"regexp"
	"strings"
)

// id is an identifier in another community's spelling. Communities spell one value in several ways: an OID with or without urn:oid: (RFC
// 3061), a UUID with or without urn:uuid:, both in either case (RFC 8141, 3.1; RFC 9562, 4). So ids are compared by value, with is.
type id string

// The schemes of the URNs that ids can be.
const (
	oidScheme  = "urn:oid:"
	uuidScheme = "urn:uuid:"
)

var (
	oid  = regexp.MustCompile(`^[0-2](\.(0|[1-9][0-9]*)){1,63}$`)
	uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// value is the id in canonical form: OIDs bare, UUIDs bare and in lower case. What stands behind an OID's ^ (XDS uniqueId: OID^extension),
// and every other text, stays letter by letter.
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

// is reports whether two ids have one value. An empty id is not any.
func (i id) is(other id) bool { return i.value() != "" && i.value() == other.value() }

// oid is the bare OID; empty if the id is anything else.
func (i id) oid() string {
	if value := i.value(); oid.MatchString(value) {
		return value
	}
	return ""
}

// urn is the id as a URN. An id that is neither an OID nor a UUID stays as it is.
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
