package smart

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"recordbridge/shared/fhir"
	"recordbridge/shared/fhir/plan"
	"recordbridge/shared/platform/safehttp"
	"recordbridge/shared/words/secret"
)

const (
	// acceptFHIR is the Accept header for the media types of FHIR R4 and DSTU2.
	acceptFHIR = "application/fhir+json, application/json+fhir;q=0.9, application/json;q=0.8"
	// maxRedirects is the maximum number of redirects per request, all of which must stay under the base.
	maxRedirects = 3
	// maxRetryAfter caps the delay that a server may request.
	maxRetryAfter = 24 * time.Hour
	// byteOrderMark is the byte order mark, with which some servers' JSON documents begin.
	byteOrderMark = "\ufeff"
	// maxRest is the maximum number of bytes drained from a redirect's body to keep the connection reusable.
	maxRest = 4 << 10
)

// fetcher requests documents from URLs under one FHIR base.
type fetcher struct {
	doer    Doer
	base    fhir.Base
	profile plan.Profile
}

// get is like document, but returns only the body.
func (f fetcher) get(ctx context.Context, address, accept string, limit int64, token secret.Text) ([]byte, error) {
	answer, err := f.document(ctx, address, accept, limit, token)
	return answer.Body, err
}

// document requests address as open does and returns a JSON document of at most limit bytes.
func (f fetcher) document(ctx context.Context, address, accept string, limit int64,
	token secret.Text,
) (fhir.Response, error) {
	response, err := f.open(ctx, address, accept, token) //nolint:bodyclose // document closes it
	if err != nil {
		return fhir.Response{}, err
	}
	body, err := document(response, limit)
	if err != nil {
		return fhir.Response{}, err
	}
	return fhir.Response{Body: body, Rate: rate(response.Header)}, nil
}

// open requests address and returns a 2xx response with an open body. address must be a URL under the base, as returned
// by Base.Join or Base.Resolve. If token is empty, open doesn't send it. open follows redirects itself because the HTTP
// client would not ensure that they stay under the base. The error is a *fhir.RequestError.
func (f fetcher) open(ctx context.Context, address, accept string, token secret.Text) (*http.Response, error) {
	address = f.withRequiredParameters(address)
	for redirects := 0; ; redirects++ {
		response, err := f.send(ctx, address, accept, token)
		if err != nil {
			return nil, unanswered(err)
		}
		location := response.Header.Get("Location")
		switch {
		case response.StatusCode/100 == 2:
			return response, nil
		case response.StatusCode/100 != 3 || location == "":
			return nil, refused(response, f.profile.Denials)
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

// batch posts a batch of searches to the base and returns the response, up to limit bytes. batch behaves like document,
// but does not follow redirects.
func (f fetcher) batch(ctx context.Context, body []byte, limit int64, token secret.Text) (fhir.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.base.String(), bytes.NewReader(body))
	if err != nil {
		return fhir.Response{}, unanswered(err)
	}
	request.Header.Set("Content-Type", "application/fhir+json")
	response, err := f.do(request, acceptFHIR, token) //nolint:bodyclose // document closes it, as refused does
	if err != nil {
		return fhir.Response{}, unanswered(err)
	}
	if response.StatusCode/100 != 2 {
		return fhir.Response{}, refused(response, f.profile.Denials)
	}
	answer, err := document(response, limit)
	if err != nil {
		return fhir.Response{}, err
	}
	return fhir.Response{Body: answer, Rate: rate(response.Header)}, nil
}

func (f fetcher) send(ctx context.Context, address, accept string, token secret.Text) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err //nolint:wrapcheck // unanswered keeps nothing of it but the class
	}
	return f.do(request, accept, token)
}

// do sends a request with the profile's headers, the Accept header and the token.
func (f fetcher) do(request *http.Request, accept string, token secret.Text) (*http.Response, error) {
	for name, value := range f.profile.Headers {
		request.Header.Set(name, value)
	}
	// A profile can't set these headers: Host must be the base's host, and net/http decompresses only encodings that it
	// requested itself.
	for _, name := range [...]string{"Authorization", "Host", "Accept-Encoding"} {
		request.Header.Del(name)
	}
	request.Header.Set("Accept", accept)
	if !token.Empty() {
		request.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return f.doer.Do(request)
}

// withRequiredParameters adds the query parameters that the server requires on every request, unless the URL already
// has them. Existing parameters are preserved byte for byte, because next links are opaque.
func (f fetcher) withRequiredParameters(address string) string {
	if len(f.profile.Query) == 0 {
		return address
	}
	_, query, _ := strings.Cut(address, "?")
	present, _ := url.ParseQuery(query) // malformed parts are skipped
	for _, name := range slices.Sorted(maps.Keys(f.profile.Query)) {
		if present.Has(name) {
			continue
		}
		joint := "&"
		switch {
		case !strings.Contains(address, "?"):
			joint = "?"
		case strings.HasSuffix(address, "?"):
			joint = ""
		}
		address += joint + url.QueryEscape(name) + "=" + url.QueryEscape(f.profile.Query[name])
	}
	return address
}

// redirect resolves a Location header to a URL under the base. ok is false if the target is not under the base, or if
// the redirect would loop, because mapping a proxy's own name back to the base yields the same URL.
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
	address = f.withRequiredParameters(address)
	return address, ok && address != from
}

// document reads and closes a successful response's body of at most limit bytes. The body must begin like a JSON
// object.
func document(response *http.Response, limit int64) ([]byte, error) {
	if response.StatusCode/100 != 2 {
		return nil, refused(response, nil)
	}
	body, err := safehttp.ReadAll(response, limit)
	if failure, ok := errors.AsType[*safehttp.Error](err); ok && failure.Class == safehttp.TooLarge {
		return nil, &fhir.RequestError{Class: fhir.TooLarge, Status: response.StatusCode}
	}
	if err != nil {
		return nil, unanswered(err)
	}
	// Some servers send a byte order mark, which RFC 8259 lets parsers ignore.
	body = bytes.TrimPrefix(body, []byte(byteOrderMark))
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return nil, &fhir.RequestError{Class: fhir.Content, Status: response.StatusCode}
	}
	return body, nil
}

// discard drains up to maxRest bytes of an unneeded body and closes it.
func discard(response *http.Response) {
	_, _ = safehttp.ReadAll(response, maxRest)
}

// unanswered returns the error for a request without a complete response. The error retains a cause only if the cause
// is known not to contain a URL.
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

// retryAfter parses Retry-After (RFC 9110 section 10.2.3), which is a number of seconds or a date. A date is compared
// with the response's own Date header, so the server's clock may differ from the local clock.
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
