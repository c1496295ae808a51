package oauth

import "net/http"

// IssueTo answers a token request whose client another side of the portal has let in (package udap): a token for the record of a
// person, without a refresh token, whatever is asked. The client's next request gets another one.
func (s *Server) IssueTo(w http.ResponseWriter, r *http.Request, clientID, personaID, requested string) {
	var scopes []string
	for _, one := range s.grantable(requested) {
		if one != "offline_access" {
			scopes = append(scopes, one)
		}
	}
	if len(scopes) == 0 {
		s.writeError(w, oauthError{"invalid_scope", "nothing of that can be granted"})

		return
	}
	id, err := s.newSecret()
	if err != nil {
		s.fail(w, r, err)

		return
	}
	grant := grantRecord{ClientID: clientID, PersonaID: personaID, Scopes: scopes, ExpiresAt: s.now().Add(consentLasts).Unix(), Site: s.site}
	if err = s.save(r.Context(), grantKey(id), grant, grant.ExpiresAt); err != nil {
		s.fail(w, r, err)

		return
	}
	answer, err := s.issue(r.Context(), id, grant, scopes)
	if err != nil {
		s.fail(w, r, err)

		return
	}
	s.writeJSON(w, http.StatusOK, answer)
}
