// Package datatype reads the data types of CDA (HL7 V3 data types R1) as those of FHIR R4: codes, texts, times,
// quantities, names, addresses, telecoms, identifiers and narrative (C-CDA on FHIR, "Mapping Guidance").
package datatype

import "recordbridge/shared/fhir/ccda/cda"

// Reader reads the data types whose meaning depends on the document: texts that point to its narrative, times without a
// zone.
type Reader struct {
	document *cda.Document
	account  Account
}

// Account records which parts of a document have been read and what could not be.
type Account interface {
	// Take marks a statement or code as covered by a resource.
	Take(n *cda.Node)
	// Affords reports whether the budget allows so many more bytes, and counts what as dropped if not.
	Affords(what string, bytes int) bool
	// IsFull reports whether the budget is spent.
	IsFull() bool
	// Drop counts a part of the document that leaves no trace.
	Drop(what, reason string)
}

// NewReader returns a Reader of a document.
func NewReader(document *cda.Document, account Account) *Reader {
	return &Reader{document: document, account: account}
}
