package smart

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"recordbridge/shared/fault"
	"recordbridge/shared/org"
)

// Clients proves to an authorization server who our client is.
type Clients interface {
	// Authenticate adds the proof of the client authID to a request, to its form or to its header. The server is the one
	// of tokenEndpoint, whichever of its endpoints is asked: an assertion is for that one (RFC 7523 section 3). It alone
	// decides whether client_id stands in the form. No secret may be in its error.
	Authenticate(ctx context.Context, tenant org.Tenant, authID, clientID, tokenEndpoint string, form url.Values, header http.Header) error
}

var errNoClients = errors.New("nothing is at hand to authenticate with")

// caller is the client of ours that speaks, for which organisation it does, and at which authorization server.
type caller struct {
	tenant        org.Tenant
	authID        string // empty for a public client
	clientID      string
	tokenEndpoint string
}

// unprovenError says that our client could not prove who it is, so that nothing was sent. What caused it stays out of
// reach of errors.Is: a secret of ours that is missing must not pass for tokens that are.
type unprovenError struct{ cause error }

// Error implements error.
func (e *unprovenError) Error() string { return "client authentication: " + e.cause.Error() }

// Unspent reports that no token was used (tokens.Refresher).
func (*unprovenError) Unspent() bool { return true }

// unproven makes the error for a client that cannot prove who it is: our own trouble, which passes, and never a refusal
// by the health system nor a failure of it.
func unproven(cause error) error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"The health system could not be asked. Please try again later.").Because(&unprovenError{cause})
}

// authenticate adds the proof of who speaks. A public client has only its id (RFC 6749 section 3.2.1).
func (c *Client) authenticate(ctx context.Context, by caller, form url.Values, header http.Header) error {
	if by.authID == "" {
		form.Set("client_id", by.clientID)
		return nil
	}
	if c.clients == nil {
		return unproven(errNoClients)
	}
	if err := c.clients.Authenticate(ctx, by.tenant, by.authID, by.clientID, by.tokenEndpoint, form, header); err != nil {
		return unproven(err)
	}
	return nil
}

// post sends a form to an endpoint of an authorization server, with the proof of who our client is.
func (c *Client) post(ctx context.Context, by caller, endpoint string, form url.Values) (*http.Response, error) {
	header := http.Header{}
	if err := c.authenticate(ctx, by, form, header); err != nil {
		return nil, err
	}
	return c.send(ctx, endpoint, form, header)
}

// send sends a form. A redirect is an answer like any other: following it would carry tokens and proof away.
func (c *Client) send(ctx context.Context, endpoint string, form url.Values, header http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	request.Header = header
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.doer.Do(request)
	if err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	return response, nil
}
