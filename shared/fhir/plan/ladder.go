package plan

import (
	"net/url"
	"strconv"

	"recordbridge/shared/fhir"
)

// The bits of Query.Step. They are stored in checkpoints: a bit keeps its meaning for good.
const (
	stepPart  = 1  // a part of its type (a fan-out, or a platform's own way): there is nothing narrower
	stepZero  = 2  // has been asked without _count already
	stepSTU3  = 8  // the server speaks STU3
	stepDSTU2 = 16 // the server speaks DSTU2
	stepWide  = 32 // has been asked for as much as possible on the first page already
	stepTrial = 64 // shows whether the server knows the type

	stepAttach = 128 // repeats a search for the Provenance that comes with it
)

// releaseBits are the bits of Query.Step that stay the same all the way down the ladder.
const releaseBits = stepSTU3 | stepDSTU2

// The sizes of a page, largest first. 100 is what other clients use with success; a page that is too large at 1 holds
// a resource that is too large.
const (
	countWide   = 1000 // where only the first page can be had
	countMore   = 300
	countUsual  = 100
	countSmall  = 25
	countFew    = 6
	countSingle = 1
)

// Values are the search parameters of q, with _count.
func (q Query) Values() url.Values {
	values := q.params()
	if q.IsTrial() {
		values.Del("_revinclude") // a refusal would not tell whether it is of the type
	}
	if q.Count > 0 {
		values.Set("_count", strconv.Itoa(q.Count))
	}
	return values
}

// Instead lists what to ask in place of q, whose first page was refused, or whose next link leads to another server
// (fhir.ForeignLink); nil when that is final. The ladder has four directions: without _count or with a smaller one;
// once with a larger one, where only the first page can be had; without _include, _revinclude and _lastUpdated, which
// are a convenience; and in parts, by category or what else the type has for that. Every step leads further down, so
// that it always ends; a page beyond the usual size is asked for in the usual one first. Failures that asking otherwise
// cannot mend have none: the server's faults, rate limits, tokens, and a plain no.
func (q Query) Instead(failed *fhir.RequestError) []Query {
	switch {
	case q.Widened() && failed.Class != fhir.ForeignLink:
		return q.smaller() // so much may have been too much to ask for
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
	case fhir.Rejected, fhir.NotFound, fhir.Forbidden, fhir.ServerFault: // some servers explain with a 500
	}
	switch failed.Refusal {
	case fhir.Denied, fhir.Unsupported, fhir.Missing:
		return nil
	case fhir.NeedsMore:
		// What is missing is told, so that the rest of the search is not to blame and can stay.
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

// OnlyBy names the search parameter by whose listed values alone q is asked, because the server or its platform refuses
// the whole type; empty when it is asked whole. Resources with other values are not found then.
func (q Query) OnlyBy() string {
	param := narrowing(q.Type)
	// dates begin before anybody's birth
	if param == "" || param == "date" || q.Step&stepPart == 0 || !q.params().Has(param) {
		return ""
	}
	return param
}

// uncounted is q without _count, unless that has been asked.
func (q Query) uncounted() []Query {
	if q.Step&stepZero != 0 {
		return nil
	}
	q.Count, q.Step = 0, q.Step|stepZero
	return []Query{q}
}

// smaller is q with fewer resources to a page. A query that never had a _count gets one: the platform may have learnt
// it. Where _count has just been refused there is nothing left to try.
func (q Query) smaller() []Query {
	switch {
	case q.Count > countMore:
		q.Count = countMore
	case q.Widened():
		return nil // the usual page is there already
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

// wider is q with as much on the first page as a server may give, unless that has been asked, or it knows no _count.
func (q Query) wider() []Query {
	if q.Count == 0 || q.Widened() {
		return nil
	}
	q.Count, q.Step = countWide, q.Step|stepWide
	return []Query{q}
}

// Widened reports whether q asks for a large first page, because the way to the pages after the usual first one, which
// has been read, leads to another server.
func (q Query) Widened() bool { return q.Step&stepWide != 0 }

// bare is q without its conveniences, or nil when it has none.
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

// parts is the fan-out of q, or nil when it has none or is a part itself.
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

// params are the search parameters of q without _count. They were encoded here, so that they can always be read.
func (q Query) params() url.Values {
	values, _ := url.ParseQuery(q.Params) // what can be read of others stays, above all the patient
	return values
}
