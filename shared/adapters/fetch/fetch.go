// Package fetch downloads public documents, such as lists of institutions. The package sends conditional requests and
// follows a few redirects (RFC 9110, sections 13.1 and 15.4). Requests don't contain credentials, so following a
// server's redirects is safe. The safehttp guard checks every request.
package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"

	"recordbridge/shared/catalog/intake"
	"recordbridge/shared/platform/safehttp"
)

const (
	mostMoves = 5
	accepted  = "application/fhir+json, application/json, text/csv, application/x-ndjson, application/yaml;q=0.9, " +
		"*/*;q=0.5"
	named    = 256 // maximum length of a stored ETag or date, in bytes
	whoWeAre = "Recordbridge-Catalogue/1.0"
)

// Error reports that a response did not contain the document. The error text never contains a URL.
type Error struct {
	Reason intake.Reason
	Status int
	cause  error
}

// Error implements error.
func (e *Error) Error() string { return "fetch: " + string(e.Reason) }

// Failure returns the error's class and HTTP status for the log line and the source's row (fault.Spot).
func (e *Error) Failure() (class string, status int) { return string(e.Reason), e.Status }

// Unwrap returns the cause, or nil if there is none.
func (e *Error) Unwrap() error { return e.cause }

// Client fetches documents through a guarded HTTP client (safehttp.Client) that returns redirects instead of following
// them.
type Client struct {
	HTTP interface {
		Do(r *http.Request) (*http.Response, error)
	}
}

// Fetch implements intake.Lists. The error is an *Error or comes from package safehttp.
func (c Client) Fetch(ctx context.Context, address string, known intake.Known) (intake.Answer, error) {
	for range mostMoves {
		response, err := c.ask(ctx, address, known)
		if err != nil {
			return intake.Answer{}, err
		}
		switch response.StatusCode {
		case http.StatusOK:
			return intake.Answer{Body: body{response.Body}, Known: intake.Known{
				ETag: short(response.Header.Get("ETag")), Modified: short(response.Header.Get("Last-Modified")),
			}}, nil
		case http.StatusNotModified:
			_ = response.Body.Close()
			return intake.Answer{IsUnchanged: true}, nil
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
			http.StatusPermanentRedirect:
			_ = response.Body.Close()
			if address, err = moved(address, response.Header.Get("Location")); err != nil {
				return intake.Answer{}, err
			}
		default:
			_ = response.Body.Close()
			return intake.Answer{}, &Error{Reason: intake.BadStatus, Status: response.StatusCode}
		}
	}
	return intake.Answer{}, &Error{Reason: intake.BadMove}
}

func (c Client) ask(ctx context.Context, address string, known intake.Known) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, &Error{Reason: intake.Reason(safehttp.BadURL)} // the original error's text would contain the URL
	}
	request.Header.Set("Accept", accepted)
	request.Header.Set("User-Agent", whoWeAre)
	if known.ETag != "" {
		request.Header.Set("If-None-Match", known.ETag)
	}
	if known.Modified != "" {
		request.Header.Set("If-Modified-Since", known.Modified)
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	return response, nil
}

// moved returns a redirect's target. A redirect from https to http is rejected, regardless of the hosts.
func moved(from, to string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", &Error{Reason: intake.BadMove}
	}
	target, err := base.Parse(to)
	if err != nil || to == "" || target.Scheme != "https" && target.Scheme != base.Scheme {
		return "", &Error{Reason: intake.BadMove}
	}
	target.Fragment = ""
	return target.String(), nil
}

func short(header string) string {
	if len(header) > named {
		return ""
	}
	return header
}

// body wraps a response body so that read errors contain a class instead of a URL.
type body struct{ io.ReadCloser }

// Read implements io.Reader.
func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var network net.Error
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err //nolint:wrapcheck // io.EOF as it is
	case errors.Is(err, context.Canceled):
		return n, &Error{Reason: intake.Reason(safehttp.Canceled), cause: context.Canceled}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) &&
		network.Timeout():
		return n, &Error{Reason: intake.OutOfTime, cause: context.DeadlineExceeded}
	}
	return n, &Error{Reason: intake.Reason(safehttp.BadAnswer)}
}
