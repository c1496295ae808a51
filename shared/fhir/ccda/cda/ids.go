package cda

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"strings"

	"recordbridge/shared/fhir/ccda/terms"
)

// RealID gives the first id of an element that can name one thing in the world, as a text; "" when there is none. A namespace
// without a value does not, unless it is a UUID: senders put their own OID there.
func RealID(n *Node) string {
	for id := range n.Each("id") {
		if key := IDKey(id); key != "" {
			return key
		}
	}
	return ""
}

// IDKey writes an II as a text for comparing; "" for one that names nothing.
func IDKey(id *Node) string {
	root, extension := strings.ToLower(id.Attr("root")), id.Attr("extension")
	switch {
	case id.Attr("nullFlavor") != "":
		return ""
	case terms.IsUUID(root) || extension != "" && root != "":
		return root + "|" + extension
	case terms.IsOID(root) && extension == "" && strings.Count(root, ".") > 10:
		return root + "|" // an arc for every act, as some senders have it
	}
	return ""
}

// Digest gives a short text that stands for an element and all in it, wherever it is in the document. Two elements that differ
// only in the order of attributes, in white space, in the case of UUIDs or in their templates have the same.
func Digest(n *Node) string {
	return DigestOf(n.spell(make([]byte, 0, 4<<10)))
}

func DigestOf(content []byte) string {
	sum := sha1.Sum(content) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

func byName(a, b attribute) int { return cmp.Compare(a.name, b.name) }

// PatientKeys gives the ids of the patient of a document, for finding documents of the same patient.
func PatientKeys(document *Node) []string {
	var keys []string
	for id := range document.At("recordTarget", "patientRole").Each("id") {
		if key := IDKey(id); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}
