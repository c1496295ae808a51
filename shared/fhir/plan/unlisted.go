package plan

import (
	"slices"

	"recordbridge/shared/fhir"
)

// Common reports whether patients usually have resources of the type. Types that US Core or payers define count as
// common. Common is used for servers without stored hints.
func Common(resourceType string) bool {
	return slices.ContainsFunc([]release{r4, stu3, dstu2},
		func(r release) bool { return slices.Contains(table(r), resourceType) })
}

// brings reports whether searches can return Provenance that the export wants and the granted scopes allow.
func (b builder) brings() bool {
	return b.attached(provenance) && b.wanted(provenance) && b.granted(provenance)
}

// Unlisted returns complete searches for the types that the CapabilityStatement does not list, sorted by name. The
// types are those of R4's patient compartment, and Device, which US Core searches by patient. Unlisted returns nil if
// the CapabilityStatement lists no types or is for another release.
func Unlisted(f Facts) []Query {
	b := builder{facts: f, scopes: fhir.ParseScopes(f.Granted)}
	if len(f.Capability.Resources) == 0 {
		return nil
	}
	var found []Query
	types := Compartment(f.Capability.FHIRVersion)
	if len(types) > 0 {
		types = slices.Concat(types, table(r4))
		slices.Sort(types)
	}
	for _, resourceType := range slices.Compact(types) {
		isListed := slices.ContainsFunc(f.Capability.Resources,
			func(r fhir.CapabilityResource) bool { return r.Type == resourceType })
		if isListed || !b.wanted(resourceType) {
			continue
		}
		params := ofPatient(resourceType, f.PatientID)
		if resourceType != provenance && b.brings() {
			params.Set("_revinclude", provenance+":target")
		}
		found = append(found, Query{Type: resourceType, Params: params.Encode(), Count: countUsual})
	}
	return found
}

// Trial returns q with one resource per page to test whether the server supports the type.
func (q Query) Trial() Query {
	q.Count, q.Step = countSingle, q.Step|stepTrial
	return q
}

// IsTrial reports whether q was created by Trial.
func (q Query) IsTrial() bool { return q.Step&stepTrial != 0 }

// Whole returns the search for all resources of the type that the trial query q tests.
func (q Query) Whole() Query {
	if q.Count != 0 { // A count of 0 means that the server refuses _count.
		q.Count = countUsual
	}
	q.Step &^= stepTrial
	return q
}
