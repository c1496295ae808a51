package ccda

import (
	"strings"

	"recordbridge/shared/fhir/ccda/r4"
)

// identifierSystems has the URI that FHIR gives to well-known namespaces of identifiers (identifier-registry.html).
const identifierSystems = `
2.16.840.1.113883.4.6 http://hl7.org/fhir/sid/us-npi
2.16.840.1.113883.4.1 http://hl7.org/fhir/sid/us-ssn
2.16.840.1.113883.4.572 http://hl7.org/fhir/sid/us-medicare
2.16.840.1.113883.4.927 http://hl7.org/fhir/sid/us-mbi
`

const uriSystem = "urn:ietf:rfc:3986"

// identifier reads an II (C-CDA on FHIR, "Mapping Guidance": II). A root with an extension is a namespace and a value; a root
// alone is a URI as the value. ok is false for one that says nothing.
func identifier(n *node) (r4.Identifier, bool) {
	root, extension := strings.TrimSpace(n.attr("root")), n.attr("extension")
	uri := lookup(identifierSystems, root)
	if uri == "" {
		uri = uriOf(root)
	}
	id := r4.Identifier{System: uri, Value: extension}
	switch {
	case extension == "" && (uri == "" || strings.HasPrefix(uri, "http")): // a namespace is no value
		return id, false
	case extension == "":
		id.System, id.Value = uriSystem, uriOf(root)
		if id.Value == "" {
			return id, false
		}
	case strings.HasPrefix(uri, "urn:uuid:") && strings.HasPrefix(strings.ToLower(extension), "urn:uuid:"):
		id.System, id.Value = uriSystem, strings.ToLower(extension)
	}
	if name := n.attr("assigningAuthorityName"); name != "" && !isOID(name) {
		id.Assigner = &r4.Reference{Display: name}
	}
	return id, true
}

// identifiers reads all ids of an element that say something, each once.
func identifiers(n *node) []r4.Identifier {
	var list []r4.Identifier
	for id := range n.each("id") {
		read, ok := identifier(id)
		for i := range list {
			ok = ok && (list[i].System != read.System || list[i].Value != read.Value)
		}
		if ok {
			list = append(list, read)
		}
	}
	return list
}

// realID gives the first id of an element that can name one thing in the world, as a text; "" when there is none. A namespace
// without a value does not, unless it is a UUID: senders put their own OID there.
func realID(n *node) string {
	for id := range n.each("id") {
		if key := idKey(id); key != "" {
			return key
		}
	}
	return ""
}

// idKey writes an II as a text for comparing; "" for one that names nothing.
func idKey(id *node) string {
	root, extension := strings.ToLower(id.attr("root")), id.attr("extension")
	switch {
	case id.attr("nullFlavor") != "":
		return ""
	case isUUID(root) || extension != "" && root != "":
		return root + "|" + extension
	case isOID(root) && extension == "" && strings.Count(root, ".") > 10:
		return root + "|" // an arc for every act, as some senders have it
	}
	return ""
}
