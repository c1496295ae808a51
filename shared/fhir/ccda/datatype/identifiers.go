package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

// URISystem is the system of identifiers that are URIs.
const URISystem = "urn:ietf:rfc:3986"

// Identifier reads an II (C-CDA on FHIR, "Mapping Guidance": II). A root with an extension is a namespace and a value;
// a root alone is a URI as the value. ok is false if it states nothing.
func Identifier(n *cda.Node) (r4.Identifier, bool) {
	root, extension := strings.TrimSpace(n.Attr("root")), n.Attr("extension")
	uri := identifierSystems.Of(root)
	if uri == "" {
		uri = terms.URI(root)
	}
	id := r4.Identifier{System: uri, Value: extension}
	switch {
	case extension == "" && (uri == "" || strings.HasPrefix(uri, "http")): // a namespace is no value
		return id, false
	case extension == "":
		id.System, id.Value = URISystem, terms.URI(root)
		if id.Value == "" {
			return id, false
		}
	case strings.HasPrefix(uri, "urn:uuid:") && strings.HasPrefix(strings.ToLower(extension), "urn:uuid:"):
		id.System, id.Value = URISystem, strings.ToLower(extension)
	}
	if name := n.Attr("assigningAuthorityName"); name != "" && !terms.IsOID(name) {
		id.Assigner = &r4.Reference{Display: name}
	}
	return id, true
}

// Identifiers reads all ids of an element that state something, each once.
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
