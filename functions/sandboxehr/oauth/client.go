package oauth

import (
	"crypto/subtle"
	"mime"
	"net/http"
	"net/url"
)

const maxFormBytes = 64 << 10

// authenticate reads the form of a back-channel request and finds out which client sent it: by HTTP Basic, by
// client_secret in the form, or for a public client by client_id alone (RFC 6749 §2.3.1, §3.2.1).
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (url.Values, Client, *oauthError) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return nil, Client{}, &oauthError{"invalid_request", "the body must be application/x-www-form-urlencoded"}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		return nil, Client{}, &oauthError{"invalid_request", "the body is not a form"}
	}
	for _, values := range r.PostForm {
		if len(values) > 1 {
			return nil, Client{}, &oauthError{"invalid_request", "a parameter is sent more than once"}
		}
	}
	id, secret, problem := credentials(r)
	if problem != nil {
		return nil, Client{}, problem
	}
	client, known := s.clients[id]
	if !known || subtle.ConstantTimeCompare([]byte(secret), []byte(client.Secret)) != 1 {
		return nil, Client{}, &oauthError{"invalid_client", "the client is unknown or its secret is wrong"}
	}

	return r.PostForm, client, nil
}

func credentials(r *http.Request) (id, secret string, problem *oauthError) {
	id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	basicID, basicSecret, basic := r.BasicAuth()
	if !basic {
		return id, secret, nil
	}
	if secret != "" {
		return "", "", &oauthError{"invalid_request", "the client authenticates in two ways"}
	}
	// Both halves are form-encoded before base64 (RFC 6749 §2.3.1).
	decodedID, idErr := url.QueryUnescape(basicID)
	decodedSecret, secretErr := url.QueryUnescape(basicSecret)
	if idErr != nil || secretErr != nil || id != "" && id != decodedID {
		return "", "", &oauthError{"invalid_client", "the Basic credentials do not fit"}
	}

	return decodedID, decodedSecret, nil
}
