// Package datatype converts CDA data types (HL7 V3 data types R1) to FHIR R4 data types: codes, texts, times,
// quantities, names, addresses, telecoms, identifiers and narrative (C-CDA on FHIR, "Mapping Guidance").
package datatype

import (
	"strconv"
	"strings"

	"recordbridge/shared/fhir/ccda/cda"
	"recordbridge/shared/fhir/ccda/r4"
)

// Reader converts data types whose meaning depends on the document, such as texts that point to its narrative and times
// without a time zone.
type Reader struct {
	concepts
	contents
	times
	quantities
	names

	account Account
}

// texts converts text, which may be a reference to the narrative.
type texts struct {
	document *cda.Document
	account  Account
}

// concepts converts codes, and the text of statements that have no code.
type concepts struct {
	texts
}

// contents converts narrative and attachments of any size.
type contents struct {
	document *cda.Document
	account  Account
}

// times converts dates, times and time intervals.
type times struct {
	*placeholders

	document *cda.Document
	account  Account
}

// quantities converts numbers and doses.
type quantities struct{ *placeholders }

// names converts names, addresses and telecoms.
type names struct{ times times }

// placeholders ensures that each dropped placeholder value is counted once, even if its element is read several times.
type placeholders struct {
	account Account
	dropped map[int32]bool // numbers of the elements already counted
}

// Account records which parts of a document were converted and which were omitted.
type Account interface {
	// Sources returns functions that write content too large to hold in memory.
	Sources() r4.Sources
	// Take marks a statement or code as represented by a resource.
	Take(n *cda.Node)
	// Affords reports whether the budget allows the given number of additional bytes. If the bytes don't fit, Affords
	// counts the part named what as dropped.
	Affords(what string, bytes int) bool
	// IsFull reports whether the budget is exhausted.
	IsFull() bool
	// Drop counts a part of the document that states a fact but is omitted from the output.
	Drop(what, reason string)
	// DropUnstated counts a part of the document that was omitted from the output because it states no fact.
	DropUnstated(what, reason string)
}

// NewReader returns a Reader for a document.
func NewReader(document *cda.Document, account Account) *Reader {
	unknown := &placeholders{account: account}
	moments := times{placeholders: unknown, document: document, account: account}
	return &Reader{
		concepts: concepts{texts{document: document, account: account}},
		contents: contents{document: document, account: account},
		times:    moments, quantities: quantities{unknown}, names: names{moments}, account: account,
	}
}

// placeholder is the reason reported for omitting a placeholder value.
const placeholder = "a placeholder for an unknown value"

// unknownNumber is the placeholder for an unknown amount or dose (CDC, HL7 2.5.1 Implementation Guide for Immunization
// Messaging, RXA-6).
const unknownNumber = 999

// Count converts a number of times, doses or repetitions. It returns nil if the number is a placeholder, such as 999 or
// 9999.
func (r *quantities) Count(n *cda.Node) *int32 {
	number := Whole(n)
	if number != nil && *number >= unknownNumber && strings.Trim(strconv.Itoa(int(*number)), "9") == "" {
		r.dropPlaceholder(n, n.Name)
		return nil
	}
	return number
}

// Dose converts the amount of a vaccine. It returns nil for the placeholder, which is 999 without a unit.
func (r *quantities) Dose(n *cda.Node) *r4.Quantity {
	dose := Quantity(n)
	if dose != nil && dose.Value == "999" && (dose.Unit == "" || dose.Unit == "1") {
		r.dropPlaceholder(n, n.Name)
		return nil
	}
	return dose
}

// isFirst reports whether the omitted element n has not been counted yet. An element may be read several times.
func (r *placeholders) isFirst(n *cda.Node) bool {
	if r.dropped[n.Number] {
		return false
	}
	if r.dropped == nil {
		r.dropped = map[int32]bool{}
	}
	r.dropped[n.Number] = true
	return true
}

// dropPlaceholder counts an element with a placeholder value as dropped, once.
func (r *placeholders) dropPlaceholder(n *cda.Node, what string) {
	if r.isFirst(n) {
		r.account.DropUnstated(what, placeholder)
	}
}
