package plan

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"recordbridge/shared/fhir"
)

// provenance is the resource type that searches for other types can include in their results.
const provenance = "Provenance"

// questionnaire is the resource type that is searched by canonical URL.
const questionnaire = "Questionnaire"

// Build creates the plan for one patient's record. Build is deterministic.
//
// The plan contains, in this order, the US Core types, payers' types and other extras, types named only in the
// platform's profile (sorted by name), and the remaining types of the patient compartment that the CapabilityStatement
// declares searchable by patient (in the statement's order). A type is included only if the statement lists it and the
// granted scopes allow searching it. Without a CapabilityStatement, every type of the compartment is requested. Patient
// is not included, because the export reads it first. For a platform with $everything, the plan begins with that
// operation and uses searches only if it fails.
//
// The CapabilityStatement is used only to drop types, never to add parameters, because servers declare more than they
// support.
func Build(f Facts) Plan {
	b := builder{
		facts: f, release: releaseOf(f.Capability.FHIRVersion), scopes: fhir.ParseScopes(f.Granted),
		listed: make(map[string]fhir.CapabilityResource, len(f.Capability.Resources)),
	}
	for _, resource := range f.Capability.Resources {
		if _, twice := b.listed[resource.Type]; !twice {
			b.listed[resource.Type] = resource
		}
	}
	made := Plan{Definitions: b.definitions(), ByID: b.byID()}
	if f.Profile.Everything && f.Since.IsZero() && len(f.Types) == 0 {
		made.Queries = append(made.Queries, Query{
			Path: "Patient/" + f.PatientID + "/$everything", Count: countUsual, Step: int(b.release),
		})
	}
	for _, resourceType := range b.candidates() {
		param := b.param(resourceType)
		switch {
		case param == "" && !b.attached(resourceType):
		case !b.granted(resourceType):
			if len(b.listed) > 0 {
				made.Denied = append(made.Denied, resourceType)
			}
		case param != "":
			made.Queries = append(made.Queries, b.queries(resourceType, param)...)
		}
	}
	return made
}

type builder struct {
	facts   Facts
	release release
	scopes  fhir.Scopes
	listed  map[string]fhir.CapabilityResource // types in the CapabilityStatement; may be empty
}

// candidates returns the requested types that the server supports, in the plan's order.
func (b builder) candidates() []string {
	profile := b.facts.Profile
	all := table(b.release)
	all = append(all, slices.Sorted(maps.Keys(profile.Ways))...)
	all = append(all, slices.Sorted(maps.Keys(profile.Needs))...)
	if len(b.listed) == 0 && b.release == r4 { // If the server lists no types, every type is a candidate.
		all = append(all, fhir.CompartmentTypes()...)
	}
	for _, resource := range b.facts.Capability.Resources {
		if inCompartment(resource.Type) && (searchParam(resource) != "" || b.attached(resource.Type)) {
			all = append(all, resource.Type)
		}
	}
	seen := map[string]bool{"Patient": true}
	return slices.DeleteFunc(all, func(resourceType string) bool {
		_, listed := b.listed[resourceType]
		if seen[resourceType] || !b.wanted(resourceType) || (len(b.listed) > 0 && !listed) {
			return true
		}
		seen[resourceType] = true
		return false
	})
}

// wanted reports whether the export should include the type.
func (b builder) wanted(resourceType string) bool {
	return len(b.facts.Types) == 0 || slices.Contains(b.facts.Types, resourceType)
}

// granted reports whether the granted scopes allow searching the type. It returns true if the EHR didn't state the
// scopes, because the EHR can still reject the request.
func (b builder) granted(resourceType string) bool {
	return b.facts.Granted == "" || b.scopes.Allows(resourceType, fhir.Search)
}

// attached reports whether searches for other types also return resources of the type.
func (b builder) attached(resourceType string) bool {
	return resourceType == provenance && slices.ContainsFunc(b.facts.Capability.Resources, b.attaches)
}

// attaches reports whether searches for a type can also return the type's Provenance. A _revinclude wildcard counts
// only if the server lists Provenance.
func (b builder) attaches(resource fhir.CapabilityResource) bool {
	if slices.Contains(resource.RevIncludes, provenance+":target") || b.facts.Attaches && resource.Type != provenance {
		return true
	}
	_, listed := b.listed[provenance]
	return listed && slices.Contains(resource.RevIncludes, "*")
}

// param returns the name of the patient parameter for searches of the type, or "" if the type is not searched.
func (b builder) param(resourceType string) string {
	profile := b.facts.Profile
	if slices.Contains(profile.Needs[resourceType], "_revinclude") {
		return ""
	}
	resource := b.listed[resourceType]
	if param := searchParam(resource); param != "" {
		return param
	}
	_, insists := profile.Needs[resourceType]
	switch {
	case len(profile.Ways[resourceType]) > 0: // the platform is known to support the type
	case len(resource.SearchParams) > 0: // The CapabilityStatement lists the type's parameters, so it is authoritative.
		return ""
	case !insists && (len(b.listed) > 0 || b.release != r4) && !slices.Contains(table(b.release), resourceType):
		return ""
	}
	if b.release == r4 {
		return patientParams(resourceType)[0]
	}
	return "patient"
}

// searchParam returns the patient parameter that the CapabilityStatement declares.
func searchParam(resource fhir.CapabilityResource) string {
	for _, param := range patientParams(resource.Type) {
		if slices.Contains(resource.SearchParams, param) {
			return param
		}
	}
	return ""
}

// patientParams returns the possible names of a type's patient parameter, R4's first (FHIR R4
// compartmentdefinition-patient.html).
func patientParams(resourceType string) []string {
	switch resourceType {
	case "Group":
		return []string{"member"}
	case "Schedule":
		return []string{"actor"}
	case "AdverseEvent", "SupplyRequest":
		return []string{"subject", "patient"}
	}
	return []string{"patient", "subject"}
}

// ofPatient returns R4's patient parameter for the type and the value of that parameter.
func ofPatient(resourceType, patientID string) url.Values {
	param := patientParams(resourceType)[0]
	if param != "patient" {
		patientID = "Patient/" + patientID // A subject or member may have a type other than Patient.
	}
	return url.Values{param: {patientID}}
}

// definitions reports whether the server's Questionnaires can be searched by canonical URL.
func (b builder) definitions() bool {
	listed, isListed := b.listed[questionnaire]
	return b.wanted(questionnaire) && b.granted(questionnaire) && (len(b.listed) == 0 ||
		isListed && (len(listed.SearchParams) == 0 || slices.Contains(listed.SearchParams, "url")))
}

// byID returns, in sorted order, the followed types that the statement or profile declares searchable by several ids in
// one request. Binary is excluded, because Binary resources may be large.
func (b builder) byID() []string {
	found := slices.Clone(b.facts.Profile.ByID)
	for resourceType, resource := range b.listed {
		if slices.Contains(resource.SearchParams, "_id") {
			found = append(found, resourceType)
		}
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(resourceType string) bool {
		return !Followed(resourceType) || resourceType == "Binary" || !b.granted(resourceType)
	})
}

// queries returns the initial searches for a type: the platform's own queries, the parts that the platform requires, or
// a single query for the entire type.
func (b builder) queries(resourceType, param string) []Query {
	profile := b.facts.Profile
	search := b.conveniences(resourceType)
	search.Set(param, b.facts.PatientID)
	if param != "patient" {
		// A subject or member may be of another type, so the value includes the type.
		search.Set(param, "Patient/"+b.facts.PatientID)
	}
	searches := narrowed(search, b.release, resourceType, profile.Needs[resourceType])
	if ways := withWays(search, profile.Ways[resourceType]); len(ways) > 0 {
		searches = ways
	}
	first := Query{Type: resourceType, Count: countUsual, Step: int(b.release)}
	if slices.Contains(profile.NoCount, resourceType) {
		first.Count = 0
	}
	plain := search.Encode()
	queries := make([]Query, 0, len(searches))
	for _, values := range searches {
		query := first
		query.Params = values.Encode()
		if query.Params != plain {
			query.Step |= stepPart
		}
		queries = append(queries, query)
	}
	return queries
}

// withWays combines the search with each of the platform's queries. They can't override the parameter that identifies
// the patient.
func withWays(search url.Values, ways []string) []url.Values {
	var all []url.Values
	for _, way := range ways {
		values, err := url.ParseQuery(way)
		if err != nil {
			continue // No server could process a query that can't be parsed.
		}
		for _, name := range []string{"_count", "patient", "subject", "member", "actor"} { // Query.Count replaces _count
			values.Del(name)
		}
		for name, given := range search {
			values[name] = slices.Concat(given, values[name])
		}
		all = append(all, values)
	}
	return all
}

// conveniences returns optional parameters that request related resources in the same response or only the resources
// that have changed. The parameters are used only if the CapabilityStatement declares them.
func (b builder) conveniences(resourceType string) url.Values {
	values := url.Values{}
	resource := b.listed[resourceType]
	include, included := related(resourceType)
	if include != "" && b.wanted(included) &&
		(slices.Contains(resource.Includes, include) || slices.Contains(resource.Includes, "*")) {
		values.Set("_include", include)
	}
	if b.attaches(resource) && b.wanted(provenance) && b.granted(provenance) {
		values.Set("_revinclude", provenance+":target")
	}
	if !b.facts.Since.IsZero() && slices.Contains(resource.SearchParams, "_lastUpdated") {
		values.Set("_lastUpdated", "ge"+b.facts.Since.UTC().Format(time.RFC3339))
	}
	return values
}

// related returns the include parameter for searches of the type (US Core) and the type of the included resources.
func related(resourceType string) (include, included string) {
	switch resourceType {
	case "CareTeam":
		return "CareTeam:participant", "Practitioner"
	case "MedicationRequest":
		return "MedicationRequest:medication", "Medication"
	case "MedicationDispense":
		return "MedicationDispense:medication", "Medication"
	}
	return "", ""
}
