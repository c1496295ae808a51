package udap

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"recordbridge/infra/sandbox/persona"
)

const (
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	extensionB2B  = "hl7-b2b"
	extensionIAS  = "tefca_ias"
	individual    = "urn:oid:2.16.840.1.113883.3.7204.1.5.2.1#T-IAS"
	// slowness is a slow portal's response delay.
	slowness = time.Hour
)

// extensions holds the extensions in a client assertion, which state the token's purpose.
type extensions struct {
	B2B struct {
		Version        string   `json:"version"`
		OrganizationID string   `json:"organization_id"`
		Purpose        []string `json:"purpose_of_use"`
	} `json:"hl7-b2b"`
	IAS struct {
		Version       string          `json:"version"`
		User          user            `json:"user_information"`
		Patient       json.RawMessage `json:"patient_information"`
		ConsentPolicy []string        `json:"consent_policy"`
		IDToken       string          `json:"id_token"`
	} `json:"tefca_ias"`
}

// user describes the person on whose behalf a token is requested, as a FHIR RelatedPerson.
type user struct {
	Type         string `json:"resourceType"`
	Relationship []struct {
		Coding []struct {
			Code string `json:"code"`
		} `json:"coding"`
	} `json:"relationship"`
}

// token serves POST /udap/token.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.misbehaves("redirect"):
		http.Redirect(w, r, elsewhere+"/token", http.StatusTemporaryRedirect)

		return
	case s.misbehaves("refuses"):
		s.refuse(w, problem{"unauthorized_client", "this portal rejects every request"})

		return
	case s.misbehaves("slow"):
		timer := time.NewTimer(slowness)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done(): // the client disconnected
			w.WriteHeader(http.StatusRequestTimeout)

			return
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if r.ParseForm() != nil || r.PostForm.Get("grant_type") != clientCredentials || r.PostForm.Get("udap") != "1" ||
		r.PostForm.Get("client_assertion_type") != assertionType || r.Header.Get("Authorization") != "" {
		s.refuse(w, problem{"invalid_request", "the body must be a UDAP token request"})

		return
	}
	client, purpose, why, err := s.client(r)
	if err != nil {
		s.fail(w, r, err)

		return
	}
	if why != (problem{}) {
		s.refuse(w, why)

		return
	}
	found, why, err := s.person(r.Context(), purpose)
	if err != nil {
		s.fail(w, r, err)

		return
	}
	if why != (problem{}) {
		s.refuse(w, why)

		return
	}
	s.config.Portal.IssueTo(w, r, client, s.tokenPerson(found).ID, r.PostForm.Get("scope"))
}

// tokenPerson returns the person to whose record the token gives access. A portal with the other-patient fault returns
// a different person.
func (s *Server) tokenPerson(found persona.Persona) persona.Persona {
	if !s.misbehaves("other-patient") {
		return found
	}
	at := slices.IndexFunc(s.config.Personas, func(p persona.Persona) bool { return p.ID != found.ID })

	return s.config.Personas[at]
}

// client verifies a token request's client assertion. It returns the client's ID and the token's purpose.
func (s *Server) client(r *http.Request) (id string, purpose extensions, why problem, err error) {
	said, err := s.member(r.Context(), r.PostForm.Get("client_assertion"))
	if errors.Is(err, errMember) {
		return "", extensions{}, problem{"invalid_client", err.Error()}, nil
	}
	if err != nil {
		return "", extensions{}, problem{}, err
	}
	raw, known, err := s.config.Store.Get(r.Context(), s.key("client", said.claims.Issuer))
	if err != nil {
		return "", extensions{}, problem{}, err
	}
	var registered registration
	if !known || json.Unmarshal(raw, &registered) != nil || !said.calls(registered.URI) {
		//nolint:nilerr // the client's mistake, and answered
		return "", extensions{}, problem{"invalid_client", "the client is not registered with this certificate"}, nil
	}
	flaw, err := s.flaw(r.Context(), said, s.tokenURL())
	if err != nil {
		return "", extensions{}, problem{}, err
	}
	if flaw != "" {
		return "", extensions{}, problem{"invalid_client", flaw}, nil
	}
	var claims struct {
		Extensions extensions `json:"extensions"`
	}
	if json.Unmarshal(said.payload, &claims) != nil || !claims.Extensions.complete() {
		//nolint:nilerr // the client's mistake, and answered
		return "", extensions{}, problem{"invalid_grant", "hl7-b2b and tefca_ias must identify the requester and the " +
			"patient"}, nil
	}

	return said.claims.Issuer, claims.Extensions, problem{}, nil
}

// complete reports whether the extensions contain everything that a patient's request for their own record requires.
func (e extensions) complete() bool {
	oneself := e.IAS.User.Type == "RelatedPerson" && len(e.IAS.User.Relationship) == 1 &&
		len(e.IAS.User.Relationship[0].Coding) == 1 && e.IAS.User.Relationship[0].Coding[0].Code == "ONESELF"

	return e.B2B.Version == "1" && e.B2B.OrganizationID != "" && slices.Equal(e.B2B.Purpose, []string{individual}) &&
		e.IAS.Version == "1" && oneself && len(e.IAS.Patient) > 0 && len(e.IAS.ConsentPolicy) > 0
}
