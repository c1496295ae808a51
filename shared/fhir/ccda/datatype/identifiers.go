package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

// URISystem is the identifier system for values that are URIs.
const URISystem = "urn:ietf:rfc:3986"

// Identifier converts an II (C-CDA on FHIR, "Mapping Guidance": CDA id → FHIR Identifier). An II's root and extension
// become a system and a value. If an II has only a root, the root becomes a value that is a URI. If the root is not a
// URI (for example, an OID with letters), it becomes the assigner's name or, without an extension, the value. ok is
// false if the II is empty.
func Identifier(n *cda.Node) (r4.Identifier, bool) {
	root, extension := strings.TrimSpace(n.Attr("root")), strings.TrimSpace(n.Attr("extension"))
	if root == uriRoot && extension != "" {
		return uriIdentifier(extension), true
	}
	uri := identifierSystems.Of(root)
	if uri == "" {
		uri = terms.URI(root)
	}
	id := r4.Identifier{System: uri, Value: extension}
	name := n.Attr("assigningAuthorityName")
	if terms.IsOID(name) {
		name = ""
	}
	switch {
	case uri == "" && extension == "":
		id.Value = root
	case uri == "" && root != "":
		name = strings.TrimSpace(name + " " + root)
	case extension == "" && strings.HasPrefix(uri, "http") && uri != root: // An identifier system is not a value.
		return id, false
	case extension == "":
		id.System, id.Value = URISystem, uri
	case strings.HasPrefix(uri, "urn:uuid:") && terms.URI(extension) != "" &&
		strings.HasPrefix(strings.ToLower(extension), "urn:uuid:"):
		id.System, id.Value = URISystem, terms.URI(extension)
	}
	if name != "" {
		id.Assigner = &r4.Reference{Display: name}
	}
	return id, id.Value != ""
}

// uriRoot is the root OID of identifiers whose extension is a URI.
const uriRoot = "2.16.840.1.113883.4.873"

// uriIdentifier splits a URL at its last slash and a URN at its last colon (C-CDA on FHIR, "Mapping Guidance": Root =
// URI OID). OID and UUID URNs, and URIs without a separator, are not split.
func uriIdentifier(text string) r4.Identifier {
	separator := "/"
	if strings.HasPrefix(strings.ToLower(text), "urn:") {
		separator = ":"
	}
	if at := strings.LastIndex(text, separator); at > 0 && at < len(text)-1 {
		if system := terms.URI(text[:at]); system == text[:at] {
			return r4.Identifier{System: system, Value: text[at+1:]}
		}
	}
	if uri := terms.URI(text); uri != "" {
		return r4.Identifier{System: URISystem, Value: uri}
	}
	return r4.Identifier{Value: text}
}

// Identifiers converts all distinct, nonempty ids of an element.
func Identifiers(n *cda.Node) []r4.Identifier {
	var list []r4.Identifier
	for id := range n.Each("id") {
		read, ok := Identifier(id)
		for i := range list {
			ok = ok && (list[i].System != read.System || list[i].Value != read.Value)
		}
		if ok {
			list = append(list, read)
		}
	}
	return list
}
