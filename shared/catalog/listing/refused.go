package listing

import "strconv"

// Reason names the defect of an entry or a list in one word. It may appear in logs, rows and operators' output.
type Reason string

// The reasons.
const (
	TooLarge     Reason = "too_large"     // exceeds the size limit
	TooMany      Reason = "too_many"      // more than the limit: entries of a list, or elements of an entry
	TooDeep      Reason = "too_deep"      // nested deeper than any list needs
	TooLong      Reason = "too_long"      // a text; the entry is omitted if it needs the text
	NotFormat    Reason = "not_format"    // not written in the list's format
	IsPage       Reason = "is_page"       // an HTML page for people
	Cut          Reason = "cut"           // ends prematurely
	Empty        Reason = "empty"         // contains nothing
	BadText      Reason = "bad_text"      // not UTF-8, or control characters, which are omitted
	BadType      Reason = "bad_type"      // a value that is not the expected text, number or list
	BadAddress   Reason = "bad_address"   // a server's URL that is not http or https, or has user information
	BadLink      Reason = "bad_link"      // a link that is not an http or https URL; it is omitted
	BadNumber    Reason = "bad_number"    // an NPI without ten digits; it is omitted
	NoName       Reason = "no_name"       // missing or blank
	NoEndpoint   Reason = "no_endpoint"   // no usable endpoint, not even a parent's
	NotREST      Reason = "not_rest"      // an endpoint that is not a FHIR REST server
	NoSuch       Reason = "no_such"       // a reference to a missing resource
	Circle       Reason = "circle"        // it is part of itself
	DuplicateKey Reason = "duplicate_key" // is in the list twice; the first is used
	TwoValues    Reason = "two_values"    // the same member twice in one object
	Unknown      Reason = "unknown"       // in a hand-kept list: a key that the format does not define
)

// Refused is the error for a list that was refused completely.
//
//nolint:errname // listing.Refused reads better than listing.RefusedError, and it is what a list is
type Refused struct {
	Reason Reason
	Line   int // for formats with lines; 0 if unknown
}

// Error implements error.
func (r *Refused) Error() string {
	if r.Line > 0 {
		return "list: " + string(r.Reason) + " in line " + strconv.Itoa(r.Line)
	}
	return "list: " + string(r.Reason)
}

func refused(reason Reason) error { return &Refused{Reason: reason} }
