package udap

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

type statement struct {
	Name           string   `json:"client_name"`
	Contacts       []string `json:"contacts"`
	GrantTypes     []string `json:"grant_types"`
	Authentication string   `json:"token_endpoint_auth_method"`
	Scope          string   `json:"scope"`
	RedirectURIs   []string `json:"redirect_uris"`
}

const (
	clientCredentials = "client_credentials"
	keyAuthentication = "private_key_jwt"
)

type registration struct {
	URI string `json:"uri"`
}

// register serves POST /udap/register. A client that registers again keeps its client ID.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Statement string `json:"software_statement"`
		UDAP      string `json:"udap"`
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || json.Unmarshal(raw, &body) != nil || body.UDAP != "1" {
		s.refuse(w, problem{"invalid_client_metadata", "the body must be a UDAP registration request"})

		return
	}
	said, err := s.member(r.Context(), body.Statement)
	if errors.Is(err, errMember) || err == nil && !said.calls(said.claims.Issuer) {
		s.refuse(w, problem{"unapproved_software_statement", "the statement is not signed by the member it names"})

		return
	}
	if err != nil {
		s.fail(w, r, err)

		return
	}
	flaw, err := s.flaw(r.Context(), said, s.registrationURL())
	if err != nil {
		s.fail(w, r, err)

		return
	}
	var asked statement
	if flaw == "" && json.Unmarshal(said.payload, &asked) != nil || !asked.complete() {
		flaw += " the claims do not define a client"
	}
	if flaw != "" {
		s.refuse(w, problem{"invalid_software_statement", strings.TrimSpace(flaw)})

		return
	}
	s.registered(w, r, said.claims.Issuer, asked, body.Statement)
}

func (a statement) complete() bool {
	mail := slices.ContainsFunc(a.Contacts, func(c string) bool { return strings.HasPrefix(c, "mailto:") })

	return a.Name != "" && mail && slices.Equal(a.GrantTypes, []string{clientCredentials}) &&
		a.Authentication == keyAuthentication &&
		a.Scope != "" && a.RedirectURIs == nil
}

func (s *Server) registered(w http.ResponseWriter, r *http.Request, uri string, asked statement, signed string) {
	id := strings.TrimPrefix(s.key("client id", uri), "UDAP#")[:32]
	record, err := json.Marshal(registration{URI: uri})
	if err == nil {
		err = s.config.Store.Put(r.Context(), s.key("client", id), record, s.config.Now().Add(leafLasts))
	}
	if err != nil {
		s.fail(w, r, err)

		return
	}
	s.answer(w, http.StatusCreated, map[string]any{
		"client_id": id, "software_statement": signed, "client_name": asked.Name, "grant_types": asked.GrantTypes,
		"token_endpoint_auth_method": asked.Authentication, "scope": asked.Scope,
	})
}
