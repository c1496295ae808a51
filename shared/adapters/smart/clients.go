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

// Clients authenticates the service's OAuth clients to authorization servers.
type Clients interface {
	// Authenticate adds the client's credentials to a request's form or header. Authenticate also determines whether
	// the form contains client_id, and rejects URLs that must not receive the credentials. Errors must not contain a
	// secret.
	Authenticate(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values, header http.Header) error
}

// clientAuthError means that no request was sent because the client could not be authenticated. The error hides its
// cause from errors.Is, so that a missing client secret is not mistaken for missing tokens.
type clientAuthError struct{ cause error }

// Error implements error.
func (e *clientAuthError) Error() string { return "client authentication: " + e.cause.Error() }

// Unspent returns true, because the request that would have used the token was never sent (tokens.Refresher).
func (*clientAuthError) Unspent() bool { return true }

// Failure returns the error's class, which fault.Spot records for the log line.
func (*clientAuthError) Failure() (class string, status int) { return "client_unproven", 0 }

// newClientAuthError returns a fault.Unavailable for a client that can't be authenticated. The error is never
// attributed to the health system. If an AWS service failed, the error has its spot.
func newClientAuthError(cause error) error {
	failed := fault.New(fault.Unavailable, fault.CodeUnavailable,
		"We couldn't authenticate to the health system. Please try again later.").Because(&clientAuthError{cause})
	if fault.Outage(cause) {
		return fault.SpotOf(cause).Failed(failed)
	}
	return failed
}

// useOf returns the ClientUse for a request to address by the client of a token set.
func useOf(set tokens.Set, address string) catalog.ClientUse {
	return catalog.ClientUse{
		AuthID: set.ClientAuthID, ClientID: set.ClientID, TokenEndpoint: set.TokenEndpoint, Address: address,
		RawBasic: set.RawBasic,
	}
}

// authenticate adds the client's credentials to a request. A public client sends only its ID (RFC 6749 section 3.2.1).
func (p Portal) authenticate(ctx context.Context, tenant org.Tenant, use catalog.ClientUse, form url.Values,
	header http.Header,
) error {
	if use.AuthID == "" {
		form.Set("client_id", use.ClientID)
		return nil
	}
	if err := p.clients.Authenticate(ctx, tenant, use, form, header); err != nil {
		return newClientAuthError(err)
	}
	return nil
}

// post sends a form with client authentication to use.Address.
func (p Portal) post(ctx context.Context, tenant org.Tenant, use catalog.ClientUse,
	form url.Values,
) (*http.Response, error) {
	header := http.Header{}
	if err := p.authenticate(ctx, tenant, use, form, header); err != nil {
		return nil, err
	}
	return p.send(ctx, use.Address, form, header)
}

// isAmbiguous reports whether a header's Basic credentials mean different things to servers that decode them and
// servers that don't. Form encoding changes all characters except letters, digits and four punctuation marks (RFC 6749
// appendix B).
func isAmbiguous(header http.Header) bool {
	id, secret, ok := (&http.Request{Header: header}).BasicAuth()
	return ok && strings.ContainsFunc(id+secret, func(r rune) bool {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r)
		return !plain
	})
}

// send posts a form. Redirects are returned rather than followed, because following a redirect would forward tokens and
// credentials.
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
