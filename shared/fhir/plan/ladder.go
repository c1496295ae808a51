package plan

import (
	"net/url"
	"strconv"

	"recordbridge/shared/fhir"
)

// Bits of Query.Step. Checkpoints store the bits, so the meaning of a bit must never change.
const (
	stepPart  = 1  // part of a type (from a split or a platform's own query); can't be narrowed
	stepZero  = 2  // the query without _count was already requested
	stepSTU3  = 8  // the server uses STU3
	stepDSTU2 = 16 // the server uses DSTU2
	stepWide  = 32 // the largest page size was already requested
	stepTrial = 64 // tests whether the server supports the type

	stepAttach = 128 // repeats a search to obtain the Provenance of its results
)

// releaseBits are the bits of Query.Step that no step changes.
const releaseBits = stepSTU3 | stepDSTU2

// Page sizes, largest first. Other clients successfully use a page size of 100. If a page of size 1 is too large, the
// resource on it is also too large.
const (
	countWide   = 1000 // used if only the first page is available
	countMore   = 300
	countUsual  = 100
	countSmall  = 25
	countFew    = 6
	countSingle = 1
)

// Values returns the search parameters of q, including _count.
func (q Query) Values() url.Values {
	values := q.params()
	if q.IsTrial() {
		values.Del("_revinclude") // The refusal may be caused by _revinclude rather than the type.
	}
	if q.Count > 0 {
		values.Set("_count", strconv.Itoa(q.Count))
	}
	return values
}

// Alternatives returns the queries to send in place of q after the server refused q's first page or returned a next
// link to another server (fhir.ForeignLink). It returns nil if there is none. An alternative omits or lowers _count,
// raises it (once, if only the first page is available), omits the optional parameters _include, _revinclude and
// _lastUpdated, or splits the type by category or an equivalent parameter. Each step moves to a later fallback, so the
// sequence always ends. If a page larger than the usual size fails, the usual size is tried before any other remedy.
// Failures that a different request can't fix, such as server errors, rate limits, token failures and plain refusals,
// have no alternatives.
func (q Query) Alternatives(failed *fhir.RequestError) []Query {
	switch {
	case q.Widened() && failed.Class != fhir.ForeignLink:
		return q.smaller() // The page may have been too large.
	case q.IsTooMuch(failed):
		return []Query{q.Sized(countUsual)}
	}
	switch failed.Class {
	case fhir.Unauthorized, fhir.Gone, fhir.Limited, fhir.Content, fhir.Network:
		return nil
	case fhir.ForeignLink:
		return q.wider()
	case fhir.TooLarge:
		return q.smaller()
	case fhir.Rejected, fhir.NotFound, fhir.Forbidden, fhir.ServerFault: // some servers explain refusals with a 500
	}
	switch failed.Refusal {
	case fhir.Denied, fhir.Unsupported, fhir.Missing:
		return nil
	case fhir.NeedsMore:
		// The server named the missing parameter, so the other parameters need not change.
		if parts := q.parts(); parts != nil {
			return parts
		}
		return q.bare()
	case fhir.NoCount:
		if q.Count > 0 {
			return q.uncounted()
		}
	case fhir.Unexplained:
	}
	if failed.Class == fhir.ServerFault {
		return nil
	}
	if bare := q.bare(); bare != nil {
		return bare
	}
	return q.parts()
}

// OnlyBy returns the search parameter whose listed values restrict q, or "" if there is none. A query restricted to
// listed values, such as categories, misses resources that have none of them.
func (q Query) OnlyBy() string {
	param := narrowing(q.Type)
	// The dates in these queries begin before the birth of any living patient.
	if param == "" || param == "date" || q.Step&stepPart == 0 || !q.params().Has(param) {
		return ""
	}
	return param
}

// uncounted returns q without _count, or nil if that query was already requested.
func (q Query) uncounted() []Query {
	if q.Step&stepZero != 0 {
		return nil
	}
	q.Count, q.Step = 0, q.Step|stepZero
	return []Query{q}
}

// smaller returns q with the next smaller page size. If q has no _count, one is added, because the platform may have
// gained support for _count. If the server has just rejected _count, there is no other page size to try.
func (q Query) smaller() []Query {
	switch {
	case q.Count > countMore:
		q.Count = countMore
	case q.Widened():
		return nil // A page of the usual size has already been read.
	case q.Count > countUsual:
		q.Count = countUsual
	case q.Count > countSmall:
		q.Count = countSmall
	case q.Count > countFew:
		q.Count = countFew
	case q.Count > countSingle:
		q.Count = countSingle
	case q.Count == 0 && q.Step&stepZero == 0:
		q.Count, q.Step = countSmall, q.Step|stepZero
	default:
		return nil
	}
	return []Query{q}
}

// wider returns q with the largest page size that a server may return. It returns nil if that page size was already
// requested or the server doesn't support _count.
func (q Query) wider() []Query {
	if q.Count == 0 || q.Widened() {
		return nil
	}
	q.Count, q.Step = countWide, q.Step|stepWide
	return []Query{q}
}

// Widened reports whether q requests a large first page because the next link of a page of the usual size pointed to
// another server.
func (q Query) Widened() bool { return q.Step&stepWide != 0 }

// bare returns q without its optional parameters, or nil if it has none.
func (q Query) bare() []Query {
	if q.IsAttaching() {
		return nil
	}
	values := q.params()
	for _, name := range []string{"_include", "_revinclude", "_lastUpdated"} {
		values.Del(name)
	}
	params := values.Encode()
	if params == q.Params {
		return nil
	}
	q.Params, q.Step = params, q.Step&^stepZero
	return []Query{q}
}

// parts returns the queries into which q is split. It returns nil if q already covers only part of a type or can't be
// split.
func (q Query) parts() []Query {
	param := narrowing(q.Type)
	if param == "" || q.Step&stepPart != 0 {
		return nil
	}
	spoken := release(q.Step & releaseBits)
	if len(choices(spoken, q.Type, param)) == 0 {
		return nil
	}
	var parts []Query
	for _, values := range narrowed(q.params(), spoken, q.Type, []string{param}) {
		part := q
		part.Params, part.Step = values.Encode(), q.Step&^stepZero|stepPart
		parts = append(parts, part)
	}
	return parts
}

// params returns q's search parameters without _count. This package encoded the parameters, so parsing never fails.
func (q Query) params() url.Values {
	values, _ := url.ParseQuery(q.Params) // After an error, the valid parameters remain, including the patient's.
	return values
}
