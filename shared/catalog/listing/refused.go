package listing

import "strconv"

// Reason says in one word what is wrong with an entry or a list. It is fit for logs, rows and operators.
type Reason string

// The reasons.
const (
	TooLarge     Reason = "too_large"     // longer than what is read of one
	TooMany      Reason = "too_many"      // more than are read: of a list's entries, or of what an entry lists
	TooDeep      Reason = "too_deep"      // nested deeper than any list needs
	TooLong      Reason = "too_long"      // a text; its entry is left out where that cannot do without
	NotFormat    Reason = "not_format"    // not written in the list's format
	IsPage       Reason = "is_page"       // a page for people: HTML
	Cut          Reason = "cut"           // ends in the middle
	Empty        Reason = "empty"         // nothing in it
	BadText      Reason = "bad_text"      // not UTF-8, or control characters, which are left out
	BadType      Reason = "bad_type"      // something else stands where a text, a number or a list belongs
	BadAddress   Reason = "bad_address"   // of a FHIR server: no http or https address, or one with user information
	BadLink      Reason = "bad_link"      // no http or https address for people; it is left out
	BadNumber    Reason = "bad_number"    // an NPI without ten digits; it is left out
	NoName       Reason = "no_name"       // or one of blanks
	NoEndpoint   Reason = "no_endpoint"   // none that can be used, not even of what it is part of
	NotREST      Reason = "not_rest"      // an endpoint of another kind than FHIR's REST
	NoSuch       Reason = "no_such"       // a reference to what is not in the list
	Circle       Reason = "circle"        // part of itself
	DuplicateKey Reason = "duplicate_key" // stands in the list twice; the first is taken
	TwoValues    Reason = "two_values"    // the same member twice in one object
	Unknown      Reason = "unknown"       // of a hand-kept list: a word that is none of the form's
)

// Refused is a list of which nothing is taken.
//
//nolint:errname // listing.Refused reads better than listing.RefusedError, and it is what a list is
type Refused struct {
	Reason Reason
	Line   int // of a list that is written in lines; 0 when it is not known
}

// Error implements error.
func (r *Refused) Error() string {
	if r.Line > 0 {
		return "list: " + string(r.Reason) + " in line " + strconv.Itoa(r.Line)
	}
	return "list: " + string(r.Reason)
}

func refused(reason Reason) error { return &Refused{Reason: reason} }
