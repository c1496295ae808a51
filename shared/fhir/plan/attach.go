package plan

import (
	"net/url"

	"recordbridge/shared/fhir"
)

// MayAttach reports whether to try to fetch Provenance by _revinclude. The export must request Provenance, the granted
// scopes must allow it, and the server must not declare a search that already returns it. A Provenance search by
// patient returns only the Patient resource's Provenance (FHIR R4 provenance.html#search).
func MayAttach(f Facts) bool {
	b := builder{facts: f, scopes: fhir.ParseScopes(f.Granted)}
	isR4 := releaseOf(f.Capability.FHIRVersion) == r4
	return isR4 && !f.Profile.Everything && !b.attached(provenance) && b.wanted(provenance) && b.granted(provenance)
}

// Attach returns the search for a type with _revinclude=Provenance:target added. If the server rejects this search, the
// export tries no other.
func Attach(resourceType, patientID string) Query {
	params := ofPatient(resourceType, patientID)
	params.Set("_revinclude", provenance+":target")
	return Query{Type: resourceType, Params: params.Encode(), Count: countUsual, Step: stepAttach}
}

// IsAttaching reports whether q was created by Attach.
func (q Query) IsAttaching() bool { return q.Step&stepAttach != 0 }

// Attached reports whether a page of q shows that the server supports _revinclude. If the server supports it, the page
// contains Provenance or repeats the parameter in its self link (FHIR R4 search.html#conformance).
func (q Query) Attached(page fhir.Bundle) bool {
	if self, err := url.Parse(page.Self); err == nil && self.Query().Has("_revinclude") {
		return true
	}
	for resource := range page.All() {
		if resource.Type == provenance {
			return true
		}
	}
	return false
}
