package plan

import (
	"maps"
	"net/url"
	"slices"
	"time"

	"recordbridge/shared/fhir"
)

// provenance is collected along with what it is about.
const provenance = "Provenance"

// questionnaire is collected by its canonical URL.
const questionnaire = "Questionnaire"

// Build makes the plan for one patient's record. The same facts give the same plan.
//
// The types are those of US Core, then those of payers and other extras, then those only the platform's profile names
// (by name), then the others of the statement that belong to the patient compartment and declare a search by patient
// (in its order); each only when the statement lists it, and the granted scopes allow to search it. Without a statement
// every type of the compartment is asked for. Patient is none of them: it is read before everything else. A plan for a
// platform with $everything begins with that, and the searches after it are for the case that it fails.
//
// The statement is used to drop types, never to add parameters: servers declare more than they do.
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

// builder holds what Build decides by.
type builder struct {
	facts   Facts
	release release
	scopes  fhir.Scopes
	listed  map[string]fhir.CapabilityResource // of the statement; empty when it lists none
}

// candidates are the types that are wanted and that the server has, in the plan's order.
func (b builder) candidates() []string {
	profile := b.facts.Profile
	all := table(b.release)
	all = append(all, slices.Sorted(maps.Keys(profile.Ways))...)
	all = append(all, slices.Sorted(maps.Keys(profile.Needs))...)
	if len(b.listed) == 0 && b.release == r4 { // nobody says what the server has
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

// wanted reports whether the export was asked for the type.
func (b builder) wanted(resourceType string) bool {
	return len(b.facts.Types) == 0 || slices.Contains(b.facts.Types, resourceType)
}

// granted reports whether the scopes allow to search the type. An EHR that does not say what it granted is asked; it
// will refuse what it must.
func (b builder) granted(resourceType string) bool {
	return b.facts.Granted == "" || b.scopes.Allows(resourceType, fhir.Search)
}

// attached reports whether the type comes along with other types.
func (b builder) attached(resourceType string) bool {
	return resourceType == provenance && slices.ContainsFunc(b.facts.Capability.Resources, b.attaches)
}

// attaches reports whether searches for a type can bring its Provenance along. A wildcard says nothing about types
// that the server does not have.
func (b builder) attaches(resource fhir.CapabilityResource) bool {
	if slices.Contains(resource.RevIncludes, provenance+":target") || b.facts.Attaches && resource.Type != provenance {
		return true
	}
	_, listed := b.listed[provenance]
	return listed && slices.Contains(resource.RevIncludes, "*")
}

// param names the parameter that holds the patient in searches for the type; empty when it is not searched.
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
	case len(profile.Ways[resourceType]) > 0: // the platform is known to answer
	case len(resource.SearchParams) > 0: // the statement tells how the type is searched, and means it
		return ""
	case !insists && (len(b.listed) > 0 || b.release != r4) && !slices.Contains(table(b.release), resourceType):
		return ""
	}
	if b.release == r4 {
		return patientParams(resourceType)[0]
	}
	return "patient"
}

// searchParam names the parameter for the patient that the statement declares.
func searchParam(resource fhir.CapabilityResource) string {
	for _, param := range patientParams(resource.Type) {
		if slices.Contains(resource.SearchParams, param) {
			return param
		}
	}
	return ""
}

// patientParams are the parameters that can hold the patient in searches for a type, the one that R4 has first
// (FHIR R4 compartmentdefinition-patient.html).
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

// ofPatient returns the parameter that R4 has for the patient in searches for a type.
func ofPatient(resourceType, patientID string) url.Values {
	param := patientParams(resourceType)[0]
	if param != "patient" {
		patientID = "Patient/" + patientID // a subject, a member need not be a patient
	}
	return url.Values{param: {patientID}}
}

// definitions reports whether a Questionnaire can be searched by its canonical URL.
func (b builder) definitions() bool {
	listed, isListed := b.listed[questionnaire]
	return b.wanted(questionnaire) && b.granted(questionnaire) && (len(b.listed) == 0 ||
		isListed && (len(listed.SearchParams) == 0 || slices.Contains(listed.SearchParams, "url")))
}

// byID are the followed types that the statement or the profile says are found by their ids, several at once, sorted. A
// Binary may be too large to come with others.
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

// queries are the searches for a type that the plan begins with: the platform's own ways, or the parts it insists on,
// or one for all of it.
func (b builder) queries(resourceType, param string) []Query {
	profile := b.facts.Profile
	search := b.conveniences(resourceType)
	search.Set(param, b.facts.PatientID)
	if param != "patient" {
		search.Set(param, "Patient/"+b.facts.PatientID) // a subject, a member need not be a patient, so its type is told
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

// withWays adds each of a platform's ways to the search. What identifies the patient stays, whatever a way says.
func withWays(search url.Values, ways []string) []url.Values {
	var all []url.Values
	for _, way := range ways {
		values, err := url.ParseQuery(way)
		if err != nil {
			continue // such a way is of no use to any server
		}
		for _, name := range []string{"_count", "patient", "subject", "member", "actor"} { // Query.Count holds the first
			values.Del(name)
		}
		for name, given := range search {
			values[name] = slices.Concat(given, values[name])
		}
		all = append(all, values)
	}
	return all
}

// conveniences are the parameters that spare requests: related resources in the same answer, and only what has
// changed. A search is as good without them, so that they are used where the statement declares them only.
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

// related names what is included in searches for a type (US Core), and the type that comes of it.
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
