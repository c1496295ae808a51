package datatype

import (
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
	"recordbridge/shared/fhir/ccda/terms"
)

// identifierSystems has the URI that FHIR gives to well-known namespaces of identifiers (identifier-registry.html).
const identifierSystems = `
2.16.840.1.113883.4.6 http://hl7.org/fhir/sid/us-npi
2.16.840.1.113883.4.1 http://hl7.org/fhir/sid/us-ssn
2.16.840.1.113883.4.572 http://hl7.org/fhir/sid/us-medicare
2.16.840.1.113883.4.927 http://hl7.org/fhir/sid/us-mbi
`

const URISystem = "urn:ietf:rfc:3986"

// Identifier reads an II (C-CDA on FHIR, "Mapping Guidance": II). A root with an extension is a namespace and a value; a root
// alone is a URI as the value. ok is false for one that says nothing.
func Identifier(n *cda.Node) (r4.Identifier, bool) {
	root, extension := strings.TrimSpace(n.Attr("root")), n.Attr("extension")
	uri := terms.Lookup(identifierSystems, root)
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

// Identifiers reads all ids of an element that say something, each once.
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
