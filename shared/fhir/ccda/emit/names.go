package emit

import (
	"encoding/hex"
	"net/url"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/terms"
)

// Names are the names of a document.
type Names struct {
	Source   string // meta.source: the document's id as a URI
	Document string // the document's id as a text, from which ids are derived
	Version  string // this document and no other, even if a sender reused its id
	Key      string // shared by all versions of the document: its set, since the next version states the same facts
}

// NamesOf returns the names of a document. The texts that ids are derived from never change, whatever form meta.source
// has.
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

// The namespaces of RFC 9562, 6.6, for names that are an OID or a URL.
const (
	namespaceOID = "\x6b\xa7\xb8\x12\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"
	namespaceURL = "\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"
)

// namespaceOf returns the bytes of the UUID of a namespace of document ids: a UUID itself, else the version 5 UUID of its
// OID or URI. Anybody who has a document can so derive its meta.source from its id.
func namespaceOf(uri, root string) string {
	kind, name := namespaceURL, uri
	if of, isUUID := strings.CutPrefix(uri, "urn:uuid:"); isUUID {
		if uuid, err := hex.DecodeString(strings.ReplaceAll(of, "-", "")); err == nil {
			return string(uuid)
		}
	}
	if oid, isOID := strings.CutPrefix(uri, "urn:oid:"); isOID {
		kind, name = namespaceOID, oid
	} else if terms.IsOID(root) { // one that FHIR has a URL for
		kind, name = namespaceOID, root
	}
	uuid := version5([]byte(kind + name))
	return string(uuid[:])
}
