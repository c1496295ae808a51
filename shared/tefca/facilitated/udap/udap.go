// Package udap is a UDAP client for FHIR servers with which the service has no prior relationship (HL7 "Security for
// Scalable Registration, Authentication, and Authorization" STU2, http://hl7.org/fhir/us/udap-security; udap.org). The
// client verifies a server's signed metadata, registers the service, and obtains tokens with client credentials. It
// checks the server's certificate before sending any data. It sends data only to endpoints that have known origins and
// are covered by the metadata's signature.
//
// Two features of the specification are not implemented. The client does not check certificate revocation (OCSP, CRL),
// although the guide requires it. It does not support certifications, so the service can't register at servers that
// require one.
package udap

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/tefca"
	"recordbridge/shared/words/fault"
)

// maxAnswer is the maximum size of a response in bytes.
const maxAnswer = 256 << 10

// Doer sends a request and returns the response, whatever its status, without following redirects. In production, the
// Doer is a *safehttp.Client.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}

// Client is a UDAP client that belongs to a trust community. All fields are required. A Client is safe for concurrent
// use. Errors wrap package tefca's errors, contain a fault.Spot, and never quote a request or response. If a server
// refuses a request with an OAuth error code, the error is a *RefusalError.
type Client struct {
	Doer    Doer
	Member  Member
	Anchors *x509.CertPool // the community's trust anchors
	Now     func() time.Time
	NewID   func() string // generates the jti claim of JWTs
}

// RefusalError is an error response from an authorization server (RFC 6749 section 5.2, RFC 7591 section 3.2.2).
type RefusalError struct {
	Code   string // standard OAuth error code, or "other"
	Status int    // HTTP status
}

// Error implements error.
func (r *RefusalError) Error() string { return "udap: refused: " + r.Code }

// Failure returns the class and status that fault.Spot logs.
func (r *RefusalError) Failure() (class string, status int) { return r.Code, r.Status }

// flaw identifies a defect in a response with a single word for log lines.
type flaw string

// Error implements error.
func (f flaw) Error() string { return "udap: " + string(f) }

// Failure returns the class that fault.Spot logs.
func (f flaw) Failure() (class string, status int) { return string(f), 0 }

// InvalidClient is the error code for a client that is not registered.
const InvalidClient = "invalid_client"

// invalidGrant is the error code for an identity that the server rejected.
const invalidGrant = "invalid_grant"

// refusal converts an error response to an error. A server error may be temporary. Any other error response means that
// the server rejects this client.
func refusal(status int, code string) error {
	switch code {
	case invalidGrant, InvalidClient, "invalid_request", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
		"access_denied",
		"invalid_client_metadata", "invalid_software_statement", "unapproved_software_statement":
	default:
		code = "other"
	}
	refused := &RefusalError{Code: code, Status: status}
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout,
		status >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %w", tefca.ErrUnavailable, refused)
	case code == invalidGrant:
		return fmt.Errorf("%w: %w", tefca.ErrIdentity, refused)
	case status/100 == 3 || status/100 == 2:
		return fmt.Errorf("%w: %w", tefca.ErrContent, refused)
	}
	return fmt.Errorf("%w: %w", tefca.ErrRefused, refused)
}

// exchange sends a request and reads the response. It follows no redirects, so the request reaches only the given URL.
func (c Client) exchange(ctx context.Context, method, address, contentType string,
	body io.Reader,
) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return 0, nil, tefca.ErrContent // err contains the URL, so it is not wrapped.
	}
	request.Header.Set("Accept", "application/json")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := c.Doer.Do(request) //nolint:bodyclose // ReadAll closes it
	if err != nil {
		return 0, nil, unanswered(err)
	}
	answer, err = safehttp.ReadAll(response, maxAnswer)
	if known, ok := errors.AsType[*safehttp.Error](err); ok && known.Class == safehttp.TooLarge {
		return 0, nil, fmt.Errorf("%w: %w", tefca.ErrTooLarge, known)
	}
	if err != nil {
		return 0, nil, unanswered(err)
	}
	return response.StatusCode, answer, nil
}

// unanswered returns the error for a request that got no response. It omits causes that might contain a URL.
func unanswered(err error) error {
	if known, ok := errors.AsType[*safehttp.Error](err); ok {
		return fmt.Errorf("%w: %w", tefca.ErrUnavailable, known)
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			return fmt.Errorf("%w: %w", tefca.ErrUnavailable, ended)
		}
	}
	return tefca.ErrUnavailable
}

// at adds the step and the host to an error.
func at(step fault.Step, address string, err error) error {
	return fault.Spot{Step: step, Host: fault.HostOf(address)}.Failed(err)
}
