package emit

import (
	"encoding/hex"
	"net/url"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/terms"
)

// Names holds the names that identify a document.
type Names struct {
	Source   string // meta.source: the document's id as a URI
	Document string // the document's id as text; other ids are derived from it
	Version  string // identifies only this document, even if the sender has reused its id
	Key      string // identifies the document's set; facts in every version derive their ids from it
}

// NamesOf returns a document's names. The strings from which ids are derived never change, even if the form of
// meta.source changes.
func NamesOf(document *cda.Node) Names {
	id := document.At("id")
	root, extension := terms.URI(id.Attr("root")), id.Attr("extension")
	n := Names{Source: root, Document: root}
	switch {
	case root == "":
		n.Document = "urn:uuid:" + Derive("document", cda.Digest(document))
		n.Source = n.Document
	case extension != "":
		n.Document = root + "#" + url.PathEscape(extension)
		n.Source = "urn:uuid:" + formatUUID(version5([]byte(namespaceOf(root, id.Attr("root"))+extension)))
	}
	n.Version = n.Document + "|" + cda.CodeOf(document.At("code")) + "|" + document.At("effectiveTime").Attr("value")
	if n.Key = cda.IDKey(document.At("setId")); n.Key == "" {
		n.Key = n.Document
	}
	return n
}

// Namespaces for names that are OIDs or URLs (RFC 9562, 6.6).
const (
	namespaceOID = "\x6b\xa7\xb8\x12\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"
	namespaceURL = "\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"
)

// namespaceOf returns the namespace UUID for a document's ids, as bytes. The namespace is the root itself if that is a
// UUID; otherwise, it is the version 5 UUID of the root's OID or URI. Anyone who has a document can derive its
// meta.source from its id.
func namespaceOf(uri, root string) string {
	kind, name := namespaceURL, uri
	if of, isUUID := strings.CutPrefix(uri, "urn:uuid:"); isUUID {
		if uuid, err := hex.DecodeString(strings.ReplaceAll(of, "-", "")); err == nil {
			return string(uuid)
		}
	}
	if oid, isOID := strings.CutPrefix(uri, "urn:oid:"); isOID {
		kind, name = namespaceOID, oid
	} else if terms.IsOID(root) { // an OID for which FHIR defines a URL
		kind, name = namespaceOID, root
	}
	uuid := version5([]byte(kind + name))
	return string(uuid[:])
}
