package listing

import "strconv"

// Reason is a code for a defect in an entry or a list. Reasons may appear in logs, rows and operators' output.
type Reason string

// Reasons for omitting or rejecting an entry or a list.
const (
	TooLarge     Reason = "too_large"     // an entry or a list exceeds the size limit
	TooMany      Reason = "too_many"      // a list has too many entries, or an entry has too many elements
	TooDeep      Reason = "too_deep"      // the nesting is deeper than any list needs
	TooLong      Reason = "too_long"      // a string is too long; an entry that requires the string is omitted
	NotFormat    Reason = "not_format"    // the content is not in the list's format
	IsPage       Reason = "is_page"       // an HTML page instead of a list
	Cut          Reason = "cut"           // ends prematurely
	Empty        Reason = "empty"         // no content
	BadText      Reason = "bad_text"      // invalid UTF-8 or control characters, which are omitted
	BadType      Reason = "bad_type"      // a value is not the expected type (string, number or list)
	BadAddress   Reason = "bad_address"   // a server's URL is not http or https, or contains user information
	BadLink      Reason = "bad_link"      // a link is not an http or https URL; the link is omitted
	BadNumber    Reason = "bad_number"    // an NPI doesn't consist of ten digits; the NPI is omitted
	NoName       Reason = "no_name"       // the name is missing or blank
	NoEndpoint   Reason = "no_endpoint"   // no usable endpoint, not even through a parent
	NotREST      Reason = "not_rest"      // an endpoint is not a FHIR REST server
	NoSuch       Reason = "no_such"       // a reference points to a missing resource
	Circle       Reason = "circle"        // an organization is its own ancestor
	DuplicateKey Reason = "duplicate_key" // a key occurs twice in a list; its first entry is used
	TwoValues    Reason = "two_values"    // an object contains the same member twice
	Unknown      Reason = "unknown"       // a manually maintained list contains a key that the format does not define
)

// Refused is the error for a list that was rejected entirely.
//
//nolint:errname // listing.Refused reads better than listing.RefusedError, and it is what a list is
type Refused struct {
	Reason Reason
	Line   int // line number in line-based formats; 0 if unknown
}

// Error implements error.
func (r *Refused) Error() string {
	if r.Line > 0 {
		return "list: " + string(r.Reason) + " in line " + strconv.Itoa(r.Line)
	}
	return "list: " + string(r.Reason)
}

func refused(reason Reason) error { return &Refused{Reason: reason} }
