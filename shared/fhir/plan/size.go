package plan

import "recordbridge/shared/fhir"

// AnySize asks for pages of the size that the server likes, by no _count.
const AnySize = -1

// Sized is q with pages of count resources, or of AnySize. What the ladder or the profile has made of q stays.
func (q Query) Sized(count int) Query {
	if q.Count >= countUsual && !q.Widened() {
		q.Count = max(0, count)
	}
	return q
}

// UsualSize is the page size to begin with at a server that nothing is known of.
func UsualSize() int { return countUsual }

// Larger is the page size to try where those of size come full; size itself where there is none.
func Larger(size int) int { return max(size, countMore) }

// Smaller is the page size to try where those of the usual size are too large.
func Smaller() int { return countSmall }

// IsTooMuch reports whether a failure may be that of asking for a page beyond the usual size.
func (q Query) IsTooMuch(failed *fhir.RequestError) bool {
	if q.Count <= countUsual || q.Widened() || failed.Refusal != fhir.Unexplained {
		return false
	}
	switch failed.Class {
	case fhir.Rejected, fhir.ServerFault, fhir.Content, fhir.TooLarge, fhir.Network:
		return true
	case fhir.Unauthorized, fhir.Forbidden, fhir.NotFound, fhir.Gone, fhir.Limited, fhir.ForeignLink:
	}
	return false
}
