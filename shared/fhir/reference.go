package fhir

import (
	"strings"
)

// ForeignReference parses a literal reference to a resource on a server other than the server at base. It returns the
// resource type if the URL contains one (FHIR R4 references.html#literal). ok is false for all other references.
func ForeignReference(reference string, base Base) (resourceType string, ok bool) {
	if !strings.HasPrefix(reference, "https://") && !strings.HasPrefix(reference, "http://") {
		return "", false
	}
	if _, own := base.relative(reference); own {
		return "", false
	}
	path, _, _ := strings.Cut(reference, "/_history/")
	rest, id := cutLast(path)
	_, resourceType = cutLast(rest)
	return resourceType, ValidType(resourceType) && ValidID(id)
}

func cutLast(path string) (before, after string) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path
	}
	return path[:at], path[at+1:]
}

// ParseReference parses a literal reference, or an Attachment's URL, to a resource on the server at base (FHIR R4
// references.html#literal). The reference may be "Type/id" or a URL of that form under the base URL. A
// "/_history/version" suffix is dropped, because exports need the current version. ok is false for references that the
// server can't resolve, such as "#contained", "urn:…", conditional references and other servers' URLs.
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
