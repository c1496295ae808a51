package export

import (
	"net/url"
	"slices"

	"recordbridge/shared/fhir"
)

// query is one search that collects a resource type.
type query struct {
	Type  string `json:"type"`
	Param string `json:"param"` // "patient" or "subject"
}

// buildPlan lists the searches that the server's CapabilityStatement offers for one patient, in its order, and the
// types left out because the granted scopes do not allow them.
func buildPlan(capability fhir.Capability, granted string) (plan []query, denied []string) {
	scopes := fhir.ParseScopes(granted)
	for _, r := range capability.Resources {
		var param string
		switch {
		case r.Type == "Patient":
			continue // read on its own, before everything else
		case slices.Contains(r.SearchParams, "patient"):
			param = "patient"
		case slices.Contains(r.SearchParams, "subject"):
			param = "subject"
		default:
			continue
		}
		// An EHR that does not say what it granted is asked; it will refuse what it must.
		if granted != "" && !scopes.Allows(r.Type, fhir.Search) {
			denied = append(denied, r.Type)
			continue
		}
		plan = append(plan, query{Type: r.Type, Param: param})
	}
	return plan, denied
}

// params are the search parameters of q for a patient.
func (q query) params(patientID string) url.Values {
	value := patientID
	if q.Param == "subject" {
		value = "Patient/" + patientID // a subject need not be a patient, so its type is told
	}
	return url.Values{q.Param: {value}}
}

// followed reports whether resources of a type are read when the record refers to them.
func followed(resourceType string) bool {
	switch resourceType {
	case "Practitioner", "Organization", "Location", "Medication", "Binary":
		return true
	}
	return false
}
