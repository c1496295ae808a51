// Package udap speaks UDAP as a client of FHIR servers that do not know us (HL7 "Security for Scalable Registration,
// Authentication, and Authorization" STU2, http://hl7.org/fhir/us/udap-security; udap.org): it verifies a server's
// signed metadata, registers us, and gets tokens by client credentials. It owns what a certificate has to prove before
// anything is sent, and what is sent to whom: nothing but to endpoints that the metadata's signature covers, at origins
// that are known to be right. It keeps nothing, asks once, and knows nothing of patients: what the extensions of a
// token request say is its caller's.
//
// Not done: certificates are not asked for their revocation (OCSP, CRL), which the guide wants of who verifies;
// certifications of clients are not made, so that a server that requires one is not registered with.
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

// maxAnswer is the largest answer in bytes.
const maxAnswer = 256 << 10

// Doer sends one request and returns the answer whatever its status. It must not follow redirects. In production it is
// *safehttp.Client.
type Doer interface {
	Do(request *http.Request) (*http.Response, error)
}

// Client is a member of a trust community. All of it is needed. It is safe for concurrent use. Its errors wrap those
// of package tefca, tell their fault.Spot, and hold nothing of a request or an answer; a refusal in the words of
// OAuth is a *RefusalError.
type Client struct {
	Doer    Doer
	Member  Member
	Anchors *x509.CertPool // of the community
	Now     func() time.Time
	NewID   func() string // a JWT's jti
}

// RefusalError is an error answer of an authorization server (RFC 6749 section 5.2, RFC 7591 section 3.2.2).
type RefusalError struct {
	Code   string // one that the standards know, or "other"
	Status int    // of HTTP
}

// Error implements error.
func (r *RefusalError) Error() string { return "udap: refused: " + r.Code }

// Failure tells the class for a log line (fault.Spot).
func (r *RefusalError) Failure() (class string, status int) { return r.Code, r.Status }

// flaw is what is wrong with an answer, as a word for log lines.
type flaw string

// Error implements error.
func (f flaw) Error() string { return "udap: " + string(f) }

// Failure tells the class for a log line (fault.Spot).
func (f flaw) Failure() (class string, status int) { return string(f), 0 }

// InvalidClient is the refusal of a client that is not registered, or not any more.
const InvalidClient = "invalid_client"

// invalidGrant is the refusal of the identity that is shown.
const invalidGrant = "invalid_grant"

// refusal makes the error of an answer that is none: what a server says of itself may pass, all else is meant for us.
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

// exchange sends a request and reads the answer. What was sent reaches the address alone: a redirect is an answer.
func (c Client) exchange(ctx context.Context, method, address, contentType string,
	body io.Reader,
) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return 0, nil, tefca.ErrContent // the error's text has the address
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

// unanswered keeps of a cause only what is known to name no address.
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

// at says where an error has happened.
func at(step fault.Step, address string, err error) error {
	return fault.Spot{Step: step, Host: fault.HostOf(address)}.Failed(err)
}
