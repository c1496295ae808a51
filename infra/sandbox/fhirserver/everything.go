package fhirserver

import (
	"net/http"

	"recordbridge/infra/sandbox/scope"
)

// Everything serves GET Patient/{id}/$everything. The response contains the resources that the scopes allow, in pages,
// with the Patient first (https://hl7.org/fhir/R4/patient-operation-everything.html). The parameters _count and _since
// are supported.
func (s *Server) Everything(w http.ResponseWriter, r *http.Request, id string) {
	if !s.options.Everything {
		s.outcome(w, http.StatusNotFound, issueNotSupported, "This server does not offer $everything.")

		return
	}
	current, ok := s.open(w, r, "Patient", scope.Read)
	if !ok {
		return
	}
	if "Patient/"+id != current.patient {
		s.outcome(w, http.StatusNotFound, issueNotFound, "This resource is not in this patient's record.")

		return
	}
	search, err := s.parseQuery(vocabulary{params: []param{{name: "_since", kind: kindDate, prefix: "ge"}}}, r)
	if err != nil {
		s.outcome(w, http.StatusBadRequest, issueInvalid, err.Error())

		return
	}
	whole := current.readable(search.run(current.record.all))
	s.writePage(w, "Patient/"+id+"/$everything", search, whole, current)
}

// Attachment serves GET attachments/{id} with the content of the Binary with that ID, regardless of the Accept header.
// Many portals serve documents from such URLs, which are not FHIR resources.
func (s *Server) Attachment(w http.ResponseWriter, r *http.Request, id string) {
	if !s.options.Attachments {
		s.outcome(w, http.StatusNotFound, issueNotSupported, "This server does not serve that resource type.")

		return
	}
	current, ok := s.open(w, r, "Binary", scope.Read)
	if !ok {
		return
	}
	found, ok := current.record.byKey["Binary/"+id]
	if !ok || !s.writeContent(w, found.Body) {
		s.outcome(w, http.StatusNotFound, issueNotFound, "There is no such attachment in this patient's record.")
	}
}
