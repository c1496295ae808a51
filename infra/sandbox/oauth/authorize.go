package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"recordbridge/infra/sandbox/persona"
	"recordbridge/infra/sandbox/switches"
)

// Sandbox-specific query parameters for the persona who signs in and that person's decision. A program can skip the
// pages by sending both parameters.
const (
	personaParam  = "persona"
	decisionParam = "decision"
)

// s256Challenge matches a SHA-256 hash in base64url without padding (RFC 7636 §4.2).
var s256Challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

var errNoRandom = errors.New("no code could be made")

// authorizeRequest is a validated authorization request.
type authorizeRequest struct {
	client      Client
	redirectURI string
	state       string
	challenge   string
	nonce       string
	scopes      []string
}

// authorizeEndpoint serves the sign-in and consent pages and issues authorization codes. It can't issue tokens.
type authorizeEndpoint struct {
	*profile
	responder

	clients map[string]Client
	scopes  *scopeRules
	ledger  *ledger
	codeTTL time.Duration
}

// Authorize serves GET /oauth/authorize. It responds with the sign-in page, or with the consent page if the persona
// parameter is set. If the decision parameter is set, Authorize redirects to the client. An unknown client or redirect
// URI results in an error page, never a redirect (RFC 6749 §4.1.2.1). Other errors in the authorization request are
// reported to the client by the redirect.
func (e *authorizeEndpoint) Authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if e.isTooLong(r.URL.RawQuery, query) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		// A write error is ignored, because the browser may have disconnected.
		_, _ = w.Write([]byte("<!doctype html><title>404.15 - Query String Too Long</title>"))

		return
	}
	client, known := e.clients[single(query, "client_id")]
	if !known {
		e.errorPage(w, "This app is not registered with the sandbox portal.", "client_id")

		return
	}
	redirectURI := single(query, "redirect_uri")
	if !client.ReturnsTo(redirectURI) {
		e.errorPage(w, "The app's redirect URI is not registered.", "redirect_uri")

		return
	}
	if e.with.Has(switches.HTTPSRedirect) && !strings.HasPrefix(redirectURI, "https://") {
		e.errorPage(w, "This portal accepts only https redirect URIs.", "redirect_uri")

		return
	}
	back := redirect{
		to: redirectURI, state: single(query, "state"), issuer: e.answeringIssuer(), fragment: e.with.Has(switches.Fragment),
	}
	if told := e.with.Text(switches.AuthorizeError); told != "" {
		back.error(w, oauthError{told, "the sandbox is configured to return this error"})

		return
	}
	request, problem := e.parseAuthorize(query, client)
	if problem != nil {
		back.error(w, *problem)

		return
	}
	e.decide(w, r, request, back)
}

// isTooLong reports whether the query string exceeds the portal's limit, in which case the portal rejects the request
// without parsing it. The limit excludes parameters that the sandbox's own pages add.
func (e *authorizeEndpoint) isTooLong(raw string, query url.Values) bool {
	limit := e.with.Number(switches.QueryLimit)
	for _, own := range []string{personaParam, decisionParam} {
		if query.Has(own) {
			raw = strings.Replace(raw, "&"+url.Values{own: {query.Get(own)}}.Encode(), "", 1)
			raw = strings.TrimPrefix(raw, url.Values{own: {query.Get(own)}}.Encode()+"&")
		}
	}

	return limit > 0 && int64(len(raw)) > limit
}

// parseAuthorize validates all request parameters except the client and its redirect URI.
func (e *authorizeEndpoint) parseAuthorize(query url.Values, client Client) (authorizeRequest, *oauthError) {
	request := authorizeRequest{
		client:      client,
		redirectURI: single(query, "redirect_uri"),
		state:       single(query, "state"),
		challenge:   single(query, "code_challenge"),
		nonce:       single(query, "nonce"),
		scopes:      e.scopes.grantable(single(query, "scope")),
	}
	for name, values := range query {
		if len(values) > 1 {
			return request, &oauthError{"invalid_request", "a parameter is repeated: " + printable(name)}
		}
	}
	switch {
	case single(query, "response_type") == "":
		return request, &oauthError{"invalid_request", "response_type is missing"}
	case single(query, "response_type") != "code":
		return request, &oauthError{"unsupported_response_type", "response_type must be code"}
	case request.state == "":
		return request, &oauthError{"invalid_request", "state is missing"}
	case !e.acceptsAud(query):
		return request, &oauthError{"invalid_request", "aud must be " + e.wantedAud()}
	case request.nonce == "" && e.with.Has(switches.NonceRequired):
		return request, &oauthError{"invalid_request", "nonce is missing"}
	case single(query, "code_challenge_method") != "S256":
		return request, &oauthError{"invalid_request", "code_challenge_method must be S256"}
	case !s256Challenge.MatchString(request.challenge):
		return request, &oauthError{"invalid_request", "code_challenge must be 43 base64url characters"}
	case e.scopes.asksWildcard(single(query, "scope")):
		return request, &oauthError{"invalid_scope", "scopes for all types are not supported"}
	case !e.scopes.asksEnough(single(query, "scope")):
		return request, &oauthError{"invalid_scope", "a scope that this portal requires is missing"}
	case len(request.scopes) == 0:
		return request, &oauthError{"invalid_scope", "none of the scopes gives access to patient data"}
	}

	return request, nil
}

// wrongIssuer is the issuer that a portal returns if a switch requires a wrong one.
const wrongIssuer = "https://another-portal.example"

// answeringIssuer returns the authorization response's iss parameter, or "" to omit it.
func (e *authorizeEndpoint) answeringIssuer() string {
	switch e.with.Text(switches.Issuer) {
	case "missing":
		return ""
	case "wrong":
		return wrongIssuer
	default:
		return e.issuer
	}
}

func (e *authorizeEndpoint) acceptsAud(query url.Values) bool {
	aud := single(query, "aud")
	switch e.with.Text(switches.Aud) {
	case "none":
		return !query.Has("aud")
	case "trimmed":
		return aud == e.fhirBase
	default:
		return strings.TrimSuffix(aud, "/") == e.fhirBase
	}
}

func (e *authorizeEndpoint) wantedAud() string {
	switch e.with.Text(switches.Aud) {
	case "none":
		return "omitted"
	case "trimmed":
		return "this server's FHIR base URL without a trailing slash"
	default:
		return "this server's FHIR base URL"
	}
}

// decide applies the person's decision or, if there is none yet, shows the page that asks for it.
func (e *authorizeEndpoint) decide(w http.ResponseWriter, r *http.Request, request authorizeRequest, back redirect) {
	query := r.URL.Query()
	decision := single(query, decisionParam)
	if decision == "deny" {
		back.error(w, oauthError{"access_denied", "the patient declined to share data"})

		return
	}
	id := single(query, personaParam)
	if id == "" {
		e.signInPage(w, request, query)

		return
	}
	person, known := e.personas[id]
	if !known {
		e.errorPage(w, "Unknown sandbox patient.", personaParam)

		return
	}
	switch decision {
	case "approve":
		e.approve(w, r, request, person, back)
	case "":
		e.consentPage(w, request, person, query)
	default:
		e.errorPage(w, "The decision must be approve or deny.", decisionParam)
	}
}

func (e *authorizeEndpoint) approve(
	w http.ResponseWriter, r *http.Request, request authorizeRequest, person persona.Persona, back redirect,
) {
	code, err := e.ledger.newSecret()
	if err != nil {
		e.fail(w, r, errors.Join(errNoRandom, err))

		return
	}
	grantID, err := e.ledger.newSecret()
	if err != nil {
		e.fail(w, r, errors.Join(errNoRandom, err))

		return
	}
	expiresAt := e.now().Add(e.codeTTL).Unix()
	// The record outlives the code, so that a late replay of the code still revokes the grant.
	err = e.ledger.save(r.Context(), codeKey(code), codeRecord{
		GrantID: grantID, ClientID: request.client.ID, RedirectURI: request.redirectURI,
		Challenge: request.challenge, PersonaID: person.ID, Scopes: request.scopes, ExpiresAt: expiresAt, Site: e.site,
		Nonce: request.nonce,
	}, e.now().Add(consentLasts).Unix())
	if err != nil {
		e.fail(w, r, err)

		return
	}
	back.success(w, code)
}

// redirect describes a redirect of the browser to the client.
type redirect struct {
	to, state, issuer string
	fragment          bool
}

func (b redirect) success(w http.ResponseWriter, code string) { b.send(w, url.Values{"code": {code}}) }

func (b redirect) error(w http.ResponseWriter, problem oauthError) {
	b.send(w, url.Values{"error": {problem.code}, "error_description": {problem.description}})
}

func (b redirect) send(w http.ResponseWriter, answer url.Values) {
	if b.issuer != "" {
		answer.Set("iss", b.issuer)
	}
	if b.state != "" {
		answer.Set("state", b.state)
	}
	separator := "?"
	if strings.Contains(b.to, "?") {
		separator = "&"
	}
	if b.fragment {
		separator = "#"
	}
	h := w.Header()
	h.Set("Location", b.to+separator+answer.Encode())
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusFound)
}

// single returns a parameter's value if the parameter occurs exactly once, and "" otherwise.
func single(query url.Values, name string) string {
	if len(query[name]) != 1 {
		return ""
	}

	return query.Get(name)
}

// printable returns a parameter name from a client if it is safe to include in an error_description, and a placeholder
// otherwise (RFC 6749 §4.1.2.1 restricts the characters).
func printable(name string) string {
	isWord := func(r rune) bool { return r == '_' || r >= 'a' && r <= 'z' }
	if len(name) > 40 || strings.ContainsFunc(name, func(r rune) bool { return !isWord(r) }) {
		return "(unnamed)"
	}

	return name
}
