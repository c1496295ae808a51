package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"

	"recordbridge/infra/sandbox/jose"
	"recordbridge/infra/sandbox/oauth"
)

// pkceVerifier matches a code verifier as defined in RFC 7636 section 4.1.
var pkceVerifier = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// token serves POST /token, which exchanges each authorization code for an id_token only once.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	form, ok := readForm(w, r)
	switch {
	case !ok:
		s.writeProblem(w, problem{"invalid_request", "the request could not be read"})

		return
	case form.Get("grant_type") != "authorization_code":
		s.writeProblem(w, problem{"unsupported_grant_type", "grant_type must be authorization_code"})

		return
	}
	var code codeRecord
	key := codeKey(form.Get("code"))
	raw, err := s.get(r.Context(), key, &code)
	if err != nil {
		s.fail(w, r, err)

		return
	}
	if raw == nil || code.Used || s.Now().Unix() >= code.ExpiresAt || !matches(code, form) {
		s.writeProblem(w, problem{"invalid_grant", "the code is not valid"})

		return
	}
	first, err := s.use(r.Context(), key, raw, code)
	if err != nil {
		s.fail(w, r, err)

		return
	}
	if !first {
		s.writeProblem(w, problem{"invalid_grant", "the code is not valid"})

		return
	}
	s.issue(w, r, code)
}

// matches reports whether the request's client, redirect URI and PKCE verifier match the code.
func matches(code codeRecord, form url.Values) bool {
	verifier := form.Get("code_verifier")
	sum := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(sum[:])

	return form.Get("client_id") == code.ClientID && form.Get("redirect_uri") == code.RedirectURI &&
		pkceVerifier.MatchString(verifier) &&
		subtle.ConstantTimeCompare([]byte(challenge), []byte(code.Challenge)) == 1
}

func (s *Server) issue(w http.ResponseWriter, r *http.Request, code codeRecord) {
	if code.Fault == faultTokenFails {
		w.WriteHeader(http.StatusInternalServerError)

		return
	}
	signed, err := s.signed(r.Context(), code)
	access := ""
	if err == nil {
		access, err = s.newSecret() // the access token grants no access; all data is in the id_token
	}
	if err != nil {
		s.fail(w, r, err)

		return
	}
	s.writeJSON(w, http.StatusOK, map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": int(tokenLasts.Seconds()), "id_token": signed,
	})
}

// Keys returns the keys with which the network's facilities verify this provider's tokens (package udap). Keys returns
// an empty set for any other issuer.
func (s *Server) Keys(ctx context.Context, issuer string) (jose.KeySet, error) {
	if issuer != s.Issuer {
		return jose.KeySet{}, nil
	}
	key, err := s.SigningKey(ctx)
	if err != nil {
		return jose.KeySet{}, err
	}

	return jose.PublicKeys(key, oauth.SigningKeyID), nil
}
