package smart

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"recordbridge/shared/catalog"
	"recordbridge/shared/connect/tokens"
	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/org"
)

// Clients proves to an authorization server who our client is.
type Clients interface {
	// Authenticate adds the proof of a client to a request, to its form or to its header. It alone decides whether
	// client_id stands in the form, and whether the address may be shown the proof. No secret may be in its error.
	Authenticate(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values, header http.Header) error
}

// unprovenError says that our client could not prove who it is, so that nothing was sent. What caused it stays out of
// reach of errors.Is: a secret of ours that is missing must not pass for tokens that are.
type unprovenError struct{ cause error }

// Error implements error.
func (e *unprovenError) Error() string { return "client authentication: " + e.cause.Error() }

// Unspent reports that no token was used (tokens.Refresher).
func (*unprovenError) Unspent() bool { return true }

// Failure tells the class for a log line (fault.Spot).
func (*unprovenError) Failure() (class string, status int) { return "client_unproven", 0 }

// unproven makes the error for a client that cannot prove who it is: our own trouble, which passes, and never a refusal
// by the health system nor a failure of it.
func unproven(cause error) error {
	return fault.New(fault.Unavailable, fault.CodeUnavailable,
		"We couldn't authenticate to the health system. Please try again later.").Because(&unprovenError{cause})
}

// useOf is the client that a token set belongs to, on its way to an address of its server.
func useOf(set tokens.Set, address string) catalog.ClientUse {
	return catalog.ClientUse{
		AuthID: set.ClientAuthID, ClientID: set.ClientID, TokenEndpoint: set.TokenEndpoint, Address: address,
		RawBasic: set.RawBasic,
	}
}

// authenticate adds the proof of who speaks. A public client has only its id (RFC 6749 section 3.2.1).
func (p Portal) authenticate(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	if use.AuthID == "" {
		form.Set("client_id", use.ClientID)
		return nil
	}
	if err := p.clients.Authenticate(ctx, tenant, use, form, header); err != nil {
		return unproven(err)
	}
	return nil
}

// post sends a form to an endpoint of an authorization server, with the proof of who our client is.
func (p Portal) post(ctx context.Context, tenant org.Tenant, use catalog.ClientUse,
	form url.Values,
) (*http.Response, error) {
	header := http.Header{}
	if err := p.authenticate(ctx, tenant, use, form, header); err != nil {
		return nil, err
	}
	return p.send(ctx, use.Address, form, header)
}

// isAmbiguous reports whether credentials in a header are others for a server that decodes them than for one that does
// not: form encoding leaves nothing as it is but letters, digits and four signs (RFC 6749 appendix B).
func isAmbiguous(header http.Header) bool {
	id, secret, ok := (&http.Request{Header: header}).BasicAuth()
	return ok && strings.ContainsFunc(id+secret, func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r)
		return !plain
	})
}

// send sends a form. A redirect is an answer like any other: following it would carry tokens and proof away.
func (p Portal) send(ctx context.Context, endpoint string, form url.Values,
	header http.Header,
) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	request.Header = header
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := p.doer.Do(request)
	if err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	return response, nil
}
