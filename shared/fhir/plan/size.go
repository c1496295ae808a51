package plan

import "recordbridge/shared/fhir"

// AnySize requests pages of the server's default size by omitting _count.
const AnySize = -1

// Sized returns q with count resources per page. If count is AnySize, the server's default applies. Page sizes set by a
// fallback or the profile are kept.
func (q Query) Sized(count int) Query {
	if q.Count >= countUsual && !q.Widened() {
		q.Count = max(0, count)
	}
	return q
}

// UsualSize returns the initial page size for an unknown server.
func UsualSize() int { return countUsual }

// Larger returns the next page size to try if pages of the given size are full. It returns the given size if it is the
// maximum.
func Larger(size int) int { return max(size, countMore) }

// Smaller returns the page size to try if pages of the usual size are too large.
func Smaller() int { return countSmall }

// IsTooMuch reports whether a failure may be caused by a page size larger than the usual one.
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
