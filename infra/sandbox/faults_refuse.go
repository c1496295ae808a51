package sandbox

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"recordbridge/infra/sandbox/oauth"
	"recordbridge/infra/sandbox/switches"
)

// refused returns the error, if any, with which a switch replaces the response to an authorised request. It first
// checks the switches for all requests, then those for resource types, and finally those for search parameters.
func (q fhirRequest) refused(answer *captured) (refusal, bool) {
	for _, find := range []func(*captured) (refusal, bool){
		q.refusedAtAll, q.refusedType, q.refusedFailure,
		q.refusedSearch,
	} {
		if found, is := find(answer); is {
			return found, true
		}
	}

	return refusal{}, false
}

func fhirRefusal(status int, code, diagnostics string) refusal {
	return refusal{status: status, contentType: fhirType, body: outcome(code, diagnostics)}
}

func htmlRefusal(status int) refusal {
	return refusal{status: status, contentType: htmlType, body: htmlPage}
}

func unexpectedError() refusal {
	return fhirRefusal(http.StatusInternalServerError, "exception", "FHIR API Unexpected Error")
}

func (q fhirRequest) refusedAtAll(*captured) (refusal, bool) {
	switch {
	case q.with.Has(switches.Practice) && q.query.Get("ah-practice") != "Organization/"+oauth.PracticeID:
		return fhirRefusal(http.StatusForbidden, "forbidden",
			"The parameter combination is not valid. Supported: [ah-practice, patient], [ah-practice, _id]."), true
	case q.lost:
		return fhirRefusal(http.StatusNotFound, "not-found", "The search session has expired."), true
	default:
		return refusal{}, false
	}
}

func (q fhirRequest) refusedType(*captured) (refusal, bool) {
	switch {
	case q.op == opAttachment && q.with.Has(switches.AttachmentMissing):
		return fhirRefusal(http.StatusNotFound, "not-found", "There is no such attachment in this patient's record."), true
	case q.with.Covers(switches.Deny, q.resourceType):
		return refusal{status: http.StatusForbidden}, true
	case q.with.Covers(switches.DenyUser, q.resourceType):
		return fhirRefusal(http.StatusForbidden, "forbidden", "Read access to '"+q.resourceType+"' is denied by user"), true
	case q.with.Covers(switches.Deny500, q.resourceType):
		return unexpectedError(), true
	case q.with.Covers(switches.Deny401HTML, q.resourceType):
		return htmlRefusal(http.StatusUnauthorized), true
	case q.with.Covers(switches.Deny403HTML, q.resourceType):
		return htmlRefusal(http.StatusForbidden), true
	case q.resourceType == "Provenance" && q.with.Has(switches.NoProvenance):
		return fhirRefusal(http.StatusBadRequest, "not-supported", "Provenance is not implemented."), true
	case q.resourceType == "Patient" && q.op == opRead && q.with.Has(switches.PatientByID):
		return fhirRefusal(http.StatusNotFound, "not-supported", "Patient can be found only by _id."), true
	default:
		return refusal{}, false
	}
}

// refusedFailure changes the format of the FHIR server's own error responses.
func (q fhirRequest) refusedFailure(answer *captured) (refusal, bool) {
	unknownType := q.op == opSearch || bytes.Contains(answer.body.Bytes(), []byte(`"not-supported"`))
	switch {
	case answer.status == http.StatusForbidden && q.with.Has(switches.Scope401HTML):
		return htmlRefusal(http.StatusUnauthorized), true
	case answer.status == http.StatusNotFound && unknownType && q.with.Has(switches.Unknown404HTML):
		return htmlRefusal(http.StatusNotFound), true
	case answer.status == http.StatusNotFound && !unknownType && q.with.Has(switches.Missing500):
		return fhirRefusal(http.StatusInternalServerError, "processing",
			"HAPI-2001: Resource "+q.resourceType+" is not known"), true
	case answer.status == http.StatusBadRequest && q.with.Has(switches.Unsupported500):
		return unexpectedError(), true
	default:
		return refusal{}, false
	}
}

func (q fhirRequest) refusedSearch(*captured) (refusal, bool) {
	if q.op != opSearch || q.continued {
		return refusal{}, false
	}
	lacks := func(resourceType, param, name string) bool {
		return q.resourceType == resourceType && !q.query.Has(param) && q.with.Has(name)
	}
	switch {
	case lacks("CarePlan", "category", switches.CarePlan404):
		return fhirRefusal(http.StatusNotFound, "not-found", "CarePlan needs a category."), true
	case lacks("Observation", "category", switches.RequireCategory),
		lacks("CarePlan", "category", switches.RequireCategory):
		return fhirRefusal(http.StatusBadRequest, "business-rule",
			"A required element is missing: category (required)."), true
	case q.with.Has(switches.Suppressed) && q.asksCategory(q.with.Text(switches.Suppressed)):
		return fhirRefusal(http.StatusBadRequest, "suppressed", "The category is not authorised for this client."), true
	case q.query.Has("_count") && q.with.Has(switches.RejectCount):
		return fhirRefusal(http.StatusBadRequest, "processing",
			"This server does not know how to handle GET operation["+q.resourceType+"] with parameters [patient,_count]"), true
	case lacks("MedicationRequest", "intent", switches.RequireIntent):
		return fhirRefusal(http.StatusForbidden, "forbidden",
			"The parameter combination is not valid. Supported: [patient, intent], [patient, intent, status], [_id]."), true
	case lacks("Appointment", "date", switches.RequireDate):
		return fhirRefusal(http.StatusBadRequest, "required", "Appointment requires a date."), true
	case strings.Contains(q.query.Get("_id"), ",") && q.with.Is(switches.IDList, "refused"):
		return fhirRefusal(http.StatusBadRequest, "not-supported", "_id accepts only one ID."), true
	case lacks("Patient", "_id", switches.PatientByID), lacks("Patient", "_id", switches.PatientUnnamed):
		return fhirRefusal(http.StatusBadRequest, "required", "Patient can be found only by _id."), true
	default:
		return refusal{}, false
	}
}

// asksCategory reports whether the search includes the category code, with or without its system.
func (q fhirRequest) asksCategory(code string) bool {
	return slices.ContainsFunc(strings.Split(q.query.Get("category"), ","), func(one string) bool {
		return one == code || strings.HasSuffix(one, "|"+code)
	})
}
