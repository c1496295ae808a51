package oauth

import (
	"crypto/subtle"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"recordbridge/infra/sandbox/switches"
)

const maxFormBytes = 64 << 10

var plainSegment = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// Client authentication methods, as named in the discovery document.
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodKeys  = "private_key_jwt"
)

// public reports whether the client has no credentials.
func (c Client) public() bool { return c.Secret == "" && len(c.Keys.Keys) == 0 }

// ReturnsTo reports whether redirectURI is registered for the client.
func (c Client) ReturnsTo(redirectURI string) bool {
	return redirectURI != "" && slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		root, anySegment := strings.CutSuffix(registered, "*")
		segment, below := strings.CutPrefix(redirectURI, root)

		return registered == redirectURI || anySegment && below && plainSegment.MatchString(segment)
	})
}

type registry struct {
	*profile

	ledger  *ledger
	clients map[string]Client
}

// client returns the registered client with the given ID, including any secret or keys that switches assign to every
// client of the portal.
func (g *registry) client(id string) (Client, bool) {
	client, known := g.clients[id]
	if secret := g.with.Text(switches.ClientSecret); secret != "" {
		client.Secret = secret
	}
	if g.with.Has(switches.ClientKeys) {
		client.Keys = g.with.Keys(switches.ClientKeys)
	}

	return client, known
}

// authenticate parses the form of a back-channel request and identifies the client. A client authenticates by HTTP
// Basic, by client_secret in the form or by a signed assertion. A public client sends only client_id (RFC 6749 §2.3.1,
// §3.2.1, RFC 7523 §2.2). The returned error comes from the store.
func (g *registry) authenticate(w http.ResponseWriter, r *http.Request) (url.Values, Client, *oauthError, error) {
	if problem := parseForm(w, r); problem != nil {
		return nil, Client{}, problem, nil
	}
	given, problem := presented(r, g.with.Has(switches.BasicRaw))
	if problem != nil {
		return nil, Client{}, problem, nil
	}
	if demanded := g.with.Text(switches.ClientAuth); demanded != "" && given.method != demanded {
		return nil, Client{}, &oauthError{"invalid_client", "the client must authenticate with " + demanded}, nil
	}
	client, known := g.client(given.id)
	problem = &oauthError{"invalid_client", "the client is unknown or its secret is wrong"}
	if !known {
		return nil, Client{}, problem, nil
	}
	if given.method == methodKeys {
		flaw, err := g.checkAssertion(r.Context(), given.assertion, client)

		return r.PostForm, client, flaw, err
	}
	// A client with both keys and a secret can authenticate with either.
	onlyKeys := client.Secret == "" && len(client.Keys.Keys) > 0
	if onlyKeys || subtle.ConstantTimeCompare([]byte(given.secret), []byte(client.Secret)) != 1 {
		return nil, Client{}, problem, nil
	}

	return r.PostForm, client, nil, nil
}

func parseForm(w http.ResponseWriter, r *http.Request) *oauthError {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/x-www-form-urlencoded" {
		return &oauthError{"invalid_request", "the body must be application/x-www-form-urlencoded"}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if err := r.ParseForm(); err != nil {
		return &oauthError{"invalid_request", "the body is not a form"}
	}
	for _, values := range r.PostForm {
		if len(values) > 1 {
			return &oauthError{"invalid_request", "a parameter is repeated"}
		}
	}

	return nil
}

// credentials holds the identity that a client claims and the proof of that identity.
type credentials struct{ method, id, secret, assertion string }

// presented returns the credentials in a request whose form has already been parsed. If raw is true, HTTP Basic
// credentials are not form-decoded.
func presented(r *http.Request, raw bool) (credentials, *oauthError) {
	given := credentials{
		method: methodNone, id: r.PostForm.Get("client_id"), secret: r.PostForm.Get("client_secret"),
		assertion: r.PostForm.Get("client_assertion"),
	}
	basicID, basicSecret, basic := r.BasicAuth()
	ways := 0
	if given.secret != "" {
		given.method = methodPost
		ways++
	}
	if given.assertion != "" {
		given.method = methodKeys
		ways++
	}
	if basic {
		ways++
	}
	if ways > 1 {
		return credentials{}, &oauthError{"invalid_request", "the client uses two authentication methods"}
	}
	switch {
	case given.method == methodKeys:
		return assertedID(r.PostForm, given)
	case !basic:
		return given, nil
	}
	if raw {
		return credentials{method: methodBasic, id: basicID, secret: basicSecret}, nil
	}
	// The client ID and secret are form-encoded before base64 encoding (RFC 6749 §2.3.1).
	decodedID, idErr := url.QueryUnescape(basicID)
	decodedSecret, secretErr := url.QueryUnescape(basicSecret)
	if idErr != nil || secretErr != nil || given.id != "" && given.id != decodedID {
		return credentials{}, &oauthError{"invalid_client", "the Basic credentials do not match the request"}
	}

	return credentials{method: methodBasic, id: decodedID, secret: decodedSecret}, nil
}
