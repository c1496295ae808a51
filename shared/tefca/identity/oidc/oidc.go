// Package oidc implements an OpenID Connect relying party. A RelyingParty discovers an identity provider's metadata,
// builds the URL to which a patient is redirected, and exchanges the returned code for a verified identity. Package
// oidc decides which data is sent to which server, and package identity decides which responses are trusted. A
// RelyingParty stores nothing. The only request that it repeats is the one for keys, and only if a token refers to an
// unknown key.
package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/catalog"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/tefca"
	"recordbridge/shared/tefca/identity"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
	"recordbridge/shared/words/secret"
)

const (
	// answerTime is the time limit for each of a provider's responses.
	answerTime = 10 * time.Second
	// maxAnswer is the maximum size of a response in bytes.
	maxAnswer = 256 << 10
)

// Doer sends a request and returns the response, regardless of its status, without following redirects. In production,
// the Doer is a *safehttp.Client.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}

// Clients authenticates the service's client to a provider; clientauth.Registry implements it.
type Clients interface {
	// Authenticate adds client authentication to a request's form or header. It decides whether the form contains
	// client_id, and whether the credentials may be sent to the URL. Errors must not contain secrets.
	Authenticate(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values, header http.Header) error
}

// RelyingParty is an OpenID Connect relying party that caches providers' metadata. A RelyingParty is safe for
// concurrent use.
type RelyingParty struct {
	doer    Doer
	clients Clients
	now     func() time.Time
	memory  memory
}

// NewRelyingParty returns a RelyingParty. All arguments are required.
func NewRelyingParty(doer Doer, clients Clients, now func() time.Time) RelyingParty {
	return RelyingParty{doer: doer, clients: clients, now: now, memory: newMemory(now)}
}

// Begin returns the provider's URL to which the browser is redirected, and the data to store until the browser returns.
// If the provider supports pushed requests (RFC 9126), the URL reveals nothing about the request. Begin returns errors
// from package identity.
func (p RelyingParty) Begin(ctx context.Context, provider identity.Provider,
	request identity.Request,
) (string, identity.Authority, error) {
	found, err := p.discover(ctx, provider)
	if err != nil {
		return "", identity.Authority{}, err
	}
	pinned := identity.Authority{
		Provider: provider, RedirectURI: request.RedirectURI, TokenEndpoint: found.token, KeySet: found.keys,
		IssRequired: found.issRequired,
		AskedAt:     p.now(),
	}
	query := url.Values{
		"response_type": {"code"}, "client_id": {provider.ClientID}, "redirect_uri": {request.RedirectURI},
		"scope": {provider.Scope},
		"state": {request.State}, "nonce": {request.Nonce}, "code_challenge": {request.Challenge},
		"code_challenge_method": {"S256"},
		"max_age":               {strconv.Itoa(provider.MaximumAge())},
	}
	if provider.ACRValues != "" {
		query.Set("acr_values", provider.ACRValues)
	}
	if found.push != "" {
		if query, err = p.push(ctx, pinned, found.push, query); err != nil {
			return "", identity.Authority{}, err
		}
	}
	address, err := url.Parse(found.authorize)
	if err != nil {
		return "", identity.Authority{}, identity.Unavailable(err)
	}
	for name, values := range address.Query() { // The endpoint's own query parameters are preserved.
		if !query.Has(name) {
			query[name] = values
		}
	}
	address.RawQuery = query.Encode()
	return address.String(), pinned, nil
}

// Exchange exchanges an authorization code for the person's identity at the token endpoint that was pinned before the
// redirect. The code can't be used again, even if the exchange fails. Exchange returns errors from package identity.
func (p RelyingParty) Exchange(
	ctx context.Context, pinned identity.Authority, back identity.Return,
) (tefca.Assertion, error) {
	if err := pinned.Check(back); err != nil {
		return tefca.Assertion{}, fault.Spot{Step: fault.StepCallback, Host: fault.HostOf(pinned.Provider.Issuer)}.Failed(err)
	}
	read, err := p.post(ctx, pinned, pinned.TokenEndpoint, url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Code.Reveal()}, "redirect_uri": {pinned.RedirectURI},
		"code_verifier": {back.Verifier.Reveal()},
	})
	if err != nil {
		return tefca.Assertion{}, fault.Spot{Step: fault.StepToken, Host: fault.HostOf(pinned.TokenEndpoint)}.Failed(err)
	}
	who, err := p.assert(ctx, pinned, secret.New(read.text("id_token")), back.NonceHash)
	return who, fault.Spot{Step: fault.StepIdentity, Host: fault.HostOf(pinned.Provider.Issuer)}.Failed(err)
}

// push sends the authorization request directly to the provider, and returns the parameters that the URL still needs.
func (p RelyingParty) push(ctx context.Context, pinned identity.Authority, address string,
	form url.Values,
) (url.Values, error) {
	read, err := p.post(ctx, pinned, address, form)
	if err != nil {
		return nil, fault.Spot{Step: fault.StepAuthorize, Host: fault.HostOf(address)}.Failed(err)
	}
	reference := read.text("request_uri")
	if reference == "" {
		return nil, fault.Spot{
			Step: fault.StepAuthorize, Host: fault.HostOf(address),
			Class: "content",
		}.Failed(identity.Unavailable(errAnswer))
	}
	return url.Values{"client_id": {pinned.Provider.ClientID}, "request_uri": {reference}}, nil
}

// assert verifies an id_token with the keys of the pinned issuer.
func (p RelyingParty) assert(ctx context.Context, pinned identity.Authority, text secret.Text,
	nonceHash string,
) (tefca.Assertion, error) {
	if text.Empty() {
		return tefca.Assertion{}, identity.NoToken()
	}
	token, err := identity.Parse(text)
	if err != nil {
		return tefca.Assertion{}, err
	}
	keys, err := p.keys(ctx, pinned.KeySet, token.KeyID)
	if err != nil {
		return tefca.Assertion{}, err
	}
	return pinned.Assert(token, keys, nonceHash, p.now())
}

// answer is a JSON object from a provider. Members are parsed individually, so that a member of an unexpected type does
// not affect the rest of the object.
type answer map[string]json.RawMessage

// text returns a string member, or "" if the member is missing or not a string.
func (a answer) text(name string) string {
	var text string
	if json.Unmarshal(a[name], &text) != nil {
		return ""
	}
	return text
}

// words returns the strings in a member that is an array of strings.
func (a answer) words(name string) []string {
	var words []string
	if json.Unmarshal(a[name], &words) != nil {
		return nil
	}
	return words
}

func (a answer) is(name string) bool { return string(a[name]) == "true" }

var errAnswer = errors.New("oidc: unreadable response")

// statusError is the error for a response with an error status. The response is discarded, because it may name the
// patient.
type statusError int

// Error implements error.
func (s statusError) Error() string { return fmt.Sprintf("oidc: answered with status %d", int(s)) }

// Failure returns the class and status that fault.Spot logs.
func (s statusError) Failure() (class string, status int) { return "status", int(s) }

// post sends a form with client authentication and reads the response. Redirects are not followed, because they would
// disclose codes and credentials.
func (p RelyingParty) post(
	ctx context.Context, pinned identity.Authority, address string, form url.Values,
) (answer, error) {
	header := http.Header{}
	use := catalog.ClientUse{
		AuthID: pinned.Provider.ClientAuthID, ClientID: pinned.Provider.ClientID, TokenEndpoint: pinned.TokenEndpoint,
		Address: address,
	}
	if use.AuthID != "" {
		if err := p.clients.Authenticate(ctx, org.Tenant{}, use, form, header); err != nil {
			return nil, identity.Unproven(err)
		}
	}
	if use.AuthID == "" || form.Has("response_type") { // A public client sends only its ID (RFC 6749 section 3.2.1).
		form.Set("client_id", use.ClientID) // A pushed request always identifies its client (RFC 9126 section 2.1).
	}
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, body, err := p.send(ctx, http.MethodPost, address, form.Encode(), header)
	if err != nil {
		return nil, identity.Unavailable(err)
	}
	var read answer
	readable := json.Unmarshal(body, &read) == nil && read != nil
	switch code := read.text("error"); {
	case code != "":
		return nil, identity.Refused(code, statusError(status))
	case status/100 == 4 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests:
		return nil, identity.Refused("", statusError(status))
	case status/100 != 2:
		return nil, identity.Unavailable(statusError(status))
	case !readable:
		return nil, identity.Unavailable(errAnswer)
	}
	return read, nil
}

// get fetches a JSON document without authentication.
func (p RelyingParty) get(ctx context.Context, address string) ([]byte, error) {
	status, body, err := p.send(ctx, http.MethodGet, address, "", http.Header{})
	if err == nil && status != http.StatusOK {
		err = statusError(status)
	}
	return body, err
}

func (p RelyingParty) send(ctx context.Context, method, address, body string,
	header http.Header,
) (status int, answered []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return 0, nil, errAnswer // err is not wrapped, because it contains the URL.
	}
	header.Set("Accept", "application/json")
	request.Header = header
	response, err := p.doer.Do(request) //nolint:bodyclose // ReadAll closes it
	if err != nil {
		return 0, nil, err
	}
	answered, err = safehttp.ReadAll(response, maxAnswer)
	return response.StatusCode, answered, err
}
