package plan

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Values of the category parameter that together return an entire type, for servers that require the parameter. The
// values have no code system, because servers disagree about it and a code without a system matches any system (FHIR
// search.html, token).
const (
	observations = "laboratory vital-signs social-history survey exam imaging procedure therapy activity sdoh " +
		"functional-status disability-status cognitive-status clinical-test observation-adi-documentation " +
		"care-experience-preference treatment-intervention-preference"
	reports    = "LAB LP29708-2 LP29684-5 LP7839-6" // laboratory, plus LOINC parts for cardiology, radiology and pathology
	conditions = "problem-list-item health-concern encounter-diagnosis"
	carePlans  = "assess-plan 734163000 38717003" // US Core; SNOMED CT: care plan, longitudinal care plan
	documents  = "clinical-note"

	// Categories before R4. Before R4, Observation had only the first half of R4's categories, and DiagnosticReport had
	// those of HL7 table 0074.
	oldObservations = "laboratory vital-signs social-history survey exam imaging procedure therapy"
	oldReports      = "LAB RAD PAT"
	conditionsDSTU2 = "problem health-concern complaint symptom finding diagnosis"
	carePlansDSTU2  = "assess-plan careteam" // DSTU2 servers store care teams in CarePlan (Argonaut)

	// Prescription statuses other than entered-in-error, for a single search in which a comma means "or".
	prescriptions      = "active,on-hold,cancelled,completed,stopped,draft,unknown"
	prescriptionsDSTU2 = "active,on-hold,completed,stopped,draft"
)

// narrowing returns the parameter that splits a type into parts for a server that refuses to return the entire type, or
// "" if there is none.
func narrowing(resourceType string) string {
	switch resourceType {
	case "Observation", "DiagnosticReport", "Condition", "CarePlan", "DocumentReference":
		return "category"
	case "CareTeam":
		return "status"
	case "MedicationRequest":
		return "intent"
	case "Appointment":
		return "date"
	}
	return ""
}

// choices returns values of a parameter, each for a separate query, that together return as much of a type as possible.
// If no useful values are known, it returns nil, and the query omits the parameter.
func choices(r release, resourceType, param string) []string {
	switch param {
	case "category":
		return categories(r, resourceType)
	case "status":
		switch {
		case resourceType != "MedicationRequest" && resourceType != "MedicationOrder":
			return []string{"active"}
		case r == dstu2:
			return []string{prescriptionsDSTU2}
		}
		return []string{prescriptions}
	case "intent":
		return []string{"order,plan"}
	case "date":
		return []string{"ge1900-01-01"}
	}
	return nil
}

// categories returns a type's category values in a FHIR release.
func categories(r release, resourceType string) []string {
	byType := map[string]string{
		"Observation": observations, "DiagnosticReport": reports, "Condition": conditions, "CarePlan": carePlans,
		"DocumentReference": documents,
	}
	if r != r4 {
		byType["Observation"], byType["DiagnosticReport"] = oldObservations, oldReports
		delete(byType, "DocumentReference") // Before R4, DocumentReference has a class instead of a category.
	}
	if r == dstu2 {
		byType["Condition"], byType["CarePlan"] = conditionsDSTU2, carePlansDSTU2
	}
	return strings.Fields(byType[resourceType])
}

// narrowed splits a search into one search for each combination of the parameters' choices. Parameters without choices
// are omitted, so the result may be the original search.
func narrowed(search url.Values, r release, resourceType string, params []string) []url.Values {
	all := []url.Values{search}
	for _, param := range slices.Compact(slices.Sorted(slices.Values(params))) {
		values := choices(r, resourceType, param)
		if len(values) == 0 {
			continue
		}
		spread := make([]url.Values, 0, len(all)*len(values))
		for _, one := range all {
			for _, value := range values {
				copied := maps.Clone(one)
				copied.Set(param, value)
				spread = append(spread, copied)
			}
		}
		all = spread
	}
	return all
}
