package identity

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// requestPrefix is the prefix of the URIs that identify pushed authorization requests (RFC 9126 section 2.2).
const requestPrefix = "urn:ietf:params:oauth:request_uri:"

// Query parameters specific to the provider. A program can skip the page by sending person and decision=approve.
const (
	personParam   = "person"
	decisionParam = "decision"
	shapeParam    = "shape"
	faultParam    = "fault"
)

// s256Challenge matches a SHA-256 hash in base64url without padding (RFC 7636 section 4.2).
var s256Challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// push serves POST /par (RFC 9126).
func (s *Server) push(w http.ResponseWriter, r *http.Request) {
	form, ok := readForm(w, r)
	client, known := s.client(form.Get("client_id"))
	switch {
	case !ok || form.Has("request_uri"):
		s.writeProblem(w, problem{"invalid_request", "the request could not be read"})

		return
	case !known || !client.ReturnsTo(form.Get("redirect_uri")):
		s.writeProblem(w, problem{"invalid_request", "client_id and redirect_uri are not registered"})

		return
	}
	if wrong := check(form); wrong != nil {
		s.writeProblem(w, *wrong)

		return
	}
	reference, err := s.newSecret()
	if err != nil {
		s.fail(w, r, err)

		return
	}
	reference = requestPrefix + reference
	expiresAt := s.Now().Add(requestLasts).Unix()
	if err := s.put(r.Context(), requestKey(reference), requestRecord{form, expiresAt}, expiresAt); err != nil {
		s.fail(w, r, err)

		return
	}
	s.writeJSON(w, http.StatusCreated, map[string]any{"request_uri": reference, "expires_in": int(requestLasts.Seconds())})
}

// check validates all request parameters except the client and its redirect URI.
func check(query url.Values) *problem {
	for _, values := range query {
		if len(values) > 1 {
			return &problem{"invalid_request", "a parameter is repeated"}
		}
	}
	switch {
	case query.Get("response_type") != "code":
		return &problem{"unsupported_response_type", "response_type must be code"}
	case !slices.Contains(strings.Fields(query.Get("scope")), "openid"):
		return &problem{"invalid_scope", "scope must include openid"}
	case query.Get("state") == "" || query.Get("nonce") == "":
		return &problem{"invalid_request", "state and nonce are required"}
	case query.Get("code_challenge_method") != "S256" || !s256Challenge.MatchString(query.Get("code_challenge")):
		return &problem{"invalid_request", "code_challenge must be an S256 challenge"}
	}

	return nil
}

// authorize serves GET /authorize. It shows the page or, if the request contains a decision, redirects to the client.
// An unknown client or redirect URI results in an error page, never a redirect (RFC 6749 section 4.1.2.1). Other errors
// in the authorization request are reported to the client by the redirect.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	own := r.URL.Query()
	asked, ok, err := s.asked(r, own)
	if err != nil {
		s.fail(w, r, err)

		return
	}
	client, known := s.client(asked.Get("client_id"))
	if !ok || !known || own.Get("client_id") != client.ID || !client.ReturnsTo(asked.Get("redirect_uri")) {
		s.errorPage(w, r)

		return
	}
	wrong := check(asked)
	person, isPatient := patient(own.Get(personParam))
	switch {
	case wrong != nil:
		s.back(w, asked, url.Values{"error": {wrong.code}, "error_description": {wrong.description}})
	case own.Get(decisionParam) == "decline":
		s.back(w, asked, url.Values{"error": {"access_denied"}, "error_description": {"the patient declined"}})
	case own.Get(decisionParam) == "":
		s.choicePage(w, r)
	case !isPatient || own.Get(decisionParam) != "approve" || !slices.Contains(shapes, shapeOf(own)) ||
		!slices.Contains(faults, faultOf(own)):
		s.errorPage(w, r)
	case faultOf(own) == faultUnavailable:
		s.back(w, asked, url.Values{
			"error":             {"temporarily_unavailable"},
			"error_description": {"the sandbox is configured to return this error"},
		})
	default:
		s.approve(w, r, asked, codeRecord{
			ClientID: client.ID, RedirectURI: asked.Get("redirect_uri"), Challenge: asked.Get("code_challenge"),
			Nonce:   asked.Get("nonce"),
			Subject: person.Subject, Shape: shapeOf(own), Fault: faultOf(own),
		})
	}
}

// asked returns the authorization request, taken from a pushed request or from the URL.
func (s *Server) asked(r *http.Request, own url.Values) (asked url.Values, ok bool, err error) {
	if !own.Has("request_uri") {
		asked = url.Values{}
		for name, values := range own {
			if !slices.Contains([]string{personParam, decisionParam, shapeParam, faultParam}, name) {
				asked[name] = values
			}
		}

		return asked, true, nil
	}
	var pushed requestRecord
	raw, err := s.get(r.Context(), requestKey(own.Get("request_uri")), &pushed)

	return pushed.Query, raw != nil && s.Now().Unix() < pushed.ExpiresAt, err
}

func (s *Server) approve(w http.ResponseWriter, r *http.Request, asked url.Values, record codeRecord) {
	code, err := s.newSecret()
	if err == nil {
		record.ExpiresAt = s.Now().Add(s.CodeTTL).Unix()
		err = s.put(r.Context(), codeKey(code), record, record.ExpiresAt)
	}
	if err != nil {
		s.fail(w, r, err)

		return
	}
	s.back(w, asked, url.Values{"code": {code}})
}

func (s *Server) back(w http.ResponseWriter, asked, answer url.Values) {
	answer.Set("iss", s.Issuer)
	if state := asked.Get("state"); state != "" {
		answer.Set("state", state)
	}
	separator := "?"
	if strings.Contains(asked.Get("redirect_uri"), "?") {
		separator = "&"
	}
	h := w.Header()
	h.Set("Location", asked.Get("redirect_uri")+separator+answer.Encode())
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusFound)
}

// readForm parses a form and rejects duplicate parameters.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, false
	}
	for _, values := range r.PostForm {
		if len(values) > 1 {
			return nil, false
		}
	}

	return r.PostForm, true
}
