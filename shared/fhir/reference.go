package fhir

import (
	"strings"
)

// ParseReference reads a literal reference, or the URL of an Attachment, to a resource of the server at base (FHIR R4
// references.html#literal): "Type/id", the same below the base's address, either with "/_history/version", which is
// dropped because the current version is wanted. ok is false for everything that cannot be read from this server:
// "#contained", "urn:…", conditional references and other servers' addresses.
func ParseReference(reference string, base Base) (resourceType, id string, ok bool) {
	path, _, _ := strings.Cut(reference, "#")
	if strings.Contains(path, ":") {
		if path, ok = base.relative(path); !ok {
			return "", "", false
		}
	}
	resourceType, rest, _ := strings.Cut(path, "/")
	id, version, versioned := strings.Cut(rest, "/")
	if versioned {
		history, number, _ := strings.Cut(version, "/")
		if history != "_history" || !ValidID(number) {
			return "", "", false
		}
	}
	if !ValidType(resourceType) || !ValidID(id) {
		return "", "", false
	}
	return resourceType, id, true
}
