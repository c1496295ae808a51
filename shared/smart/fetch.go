package smart

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"recordbridge/shared/fhir"
	"recordbridge/shared/safehttp"
	"recordbridge/shared/secret"
)

const (
	// acceptFHIR names the media type of FHIR R4 and the one of DSTU2 (fhir.md section 1.6).
	acceptFHIR = "application/fhir+json, application/json+fhir;q=0.9, application/json;q=0.8"
	// maxRedirects is how many redirects under the base one request may take (serverless.md section 3).
	maxRedirects = 3
	// maxRetryAfter bounds what a server may ask us to wait.
	maxRetryAfter = 24 * time.Hour
	// maxRest is how much of an error's body is read, only to keep the connection usable.
	maxRest = 4 << 10
)

// fetcher gets JSON documents from addresses under one FHIR base.
type fetcher struct {
	doer Doer
	base fhir.Base
}

// get reads the document at address, of at most limit bytes. address must be under the base: Base.Join or Base.Resolve
// made it. An empty token is not sent. Redirects are followed by hand, because only here it is known that they must
// stay under the base. The error is *fhir.RequestError.
func (f fetcher) get(ctx context.Context, address, accept string, limit int64, token secret.Text) ([]byte, error) {
	for redirects := 0; ; redirects++ {
		response, err := f.send(ctx, address, accept, token) //nolint:bodyclose // document and discard close it
		if err != nil {
			return nil, unanswered(err)
		}
		location := response.Header.Get("Location")
		if response.StatusCode/100 != 3 || location == "" {
			return document(response, limit)
		}
		discard(response)
		if redirects == maxRedirects {
			return nil, &fhir.RequestError{Class: fhir.Rejected, Status: response.StatusCode}
		}
		next, ok := f.redirect(address, location)
		if !ok {
			return nil, &fhir.RequestError{Class: fhir.ForeignLink, Status: response.StatusCode}
		}
		address = next
	}
}

func (f fetcher) send(ctx context.Context, address, accept string, token secret.Text) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err //nolint:wrapcheck // unanswered keeps nothing of it but the class
	}
	request.Header.Set("Accept", accept)
	if !token.Empty() {
		request.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return f.doer.Do(request)
}

// redirect returns the address under the base that a Location header means; ok is false when there is none. Where a
// proxy's own name was moved back to the base and nothing changes, the redirect would only repeat itself.
func (f fetcher) redirect(from, location string) (address string, ok bool) {
	current, err := url.Parse(from)
	if err != nil {
		return "", false
	}
	target, err := current.Parse(location)
	if err != nil {
		return "", false
	}
	address, ok = f.base.Resolve(target.String())
	return address, ok && address != from
}

// document returns the body of a good answer, provided that it begins as a JSON object does.
func document(response *http.Response, limit int64) ([]byte, error) {
	if response.StatusCode/100 != 2 {
		discard(response)
		return nil, &fhir.RequestError{
			Class:      classOf(response.StatusCode),
			Status:     response.StatusCode,
			RetryAfter: retryAfter(response.Header),
		}
	}
	body, err := safehttp.ReadAll(response, limit)
	if failure, ok := errors.AsType[*safehttp.Error](err); ok && failure.Class == safehttp.TooLarge {
		return nil, &fhir.RequestError{Class: fhir.TooLarge, Status: response.StatusCode}
	}
	if err != nil {
		return nil, unanswered(err)
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // some servers send a byte order mark, which RFC 8259 lets readers drop
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return nil, &fhir.RequestError{Class: fhir.Content, Status: response.StatusCode}
	}
	return body, nil
}

// discard reads a little of a body that nobody wants and closes it.
func discard(response *http.Response) {
	_, _ = safehttp.ReadAll(response, maxRest) // nothing depends on the rest of a refused answer
}

// classOf translates a status that is not 2xx.
func classOf(status int) fhir.Class {
	switch {
	case status == http.StatusUnauthorized:
		return fhir.Unauthorized
	case status == http.StatusForbidden:
		return fhir.Forbidden
	case status == http.StatusNotFound:
		return fhir.NotFound
	case status == http.StatusGone:
		return fhir.Gone
	case status == http.StatusTooManyRequests:
		return fhir.Limited
	case status == http.StatusRequestTimeout || status >= 500:
		return fhir.ServerFault
	default:
		return fhir.Rejected
	}
}

// unanswered makes the error of a request without a whole answer. Of the cause only what is known to name no address
// is kept.
func unanswered(err error) *fhir.RequestError {
	failure := &fhir.RequestError{Class: fhir.Network}
	if known, ok := errors.AsType[*safehttp.Error](err); ok {
		failure.Cause = known
		return failure
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			failure.Cause = ended
		}
	}
	return failure
}

// retryAfter reads Retry-After (RFC 9110 section 10.2.3): seconds, or a date, which is compared with the answer's own
// Date so that no two clocks have to agree.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), maxRetryAfter)
}
