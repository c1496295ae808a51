package probe

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"recordbridge/shared/adapters/smart"
	"recordbridge/shared/catalog"
	"recordbridge/shared/platform/safehttp"
)

// exchange holds the reportable parts of a request and its response.
type exchange struct {
	asked     string // method, origin and path; the query may be confidential
	status    int    // 0 without a response
	mediaType string
	said      string // error_description of a refused POST, safe for a terminal
}

// witness sends the requests of one test in sequence and records the last request and the last POST. After a refused
// refresh, the code may look for a token endpoint that has moved.
type witness struct {
	doer   smart.Doer
	last   exchange
	posted exchange
}

// Do implements smart.Doer.
func (w *witness) Do(request *http.Request) (*http.Response, error) {
	w.last = exchange{asked: request.Method + " " + place(request.URL)}
	response, err := w.doer.Do(request)
	if err == nil {
		w.last.status, w.last.mediaType = response.StatusCode, response.Header.Get("Content-Type")
	}
	if request.Method == http.MethodPost {
		w.posted = w.last
		if err == nil && response.StatusCode >= http.StatusBadRequest {
			w.posted.said = description(request, response)
		}
	}
	return response, err
}

// forget clears the records, so that a step without requests does not show the previous step's.
func (w *witness) forget() { w.last, w.posted = exchange{}, exchange{} }

// place returns the origin and the path of a URL.
func place(u *url.URL) string {
	return plain(catalog.Origin(u.Scheme+"://"+u.Host) + u.EscapedPath())
}

// unanswered explains a missing response and recommends an action. ok is false if there was a response.
func unanswered(err error) (found, do string, ok bool) {
	failure, ok := errors.AsType[*safehttp.Error](err)
	if !ok {
		return "", "", false
	}
	switch failure.Class {
	case safehttp.DNS:
		return "The name of the host has no address.",
			"Look for a mistake in the name; ask the health system for the public one.", true
	case safehttp.Connect:
		return "The host does not take the connection.",
			"Ask the health system whether its server is up and open to the internet.", true
	case safehttp.TLS:
		return "No secure connection comes about: the certificate is not one that everybody trusts and of this host, or " +
				"TLS is older than 1.2.",
			"Ask the health system to repair its certificate; an intermediate one is often missing.", true
	case safehttp.Timeout:
		return "No answer came in time.", "Try again; ask the health system whether a firewall drops us.", true
	case safehttp.BlockedAddress:
		return "The host is at a private or otherwise forbidden address, or a port other than 443, and this service never " +
				"goes there.",
			"Use the address that the health system has on the internet, at port 443.", true
	case safehttp.BadURL:
		return "The address does not mean the same to all programs, and nothing was sent.",
			"Ask the health system for a plain https address.", true
	case safehttp.BadAnswer:
		return "The connection broke, or what came was no HTTP.", "Ask the health system what answers at this address.", true
	case safehttp.TooLarge:
		return "The answer is larger than any of its kind.", "Ask the health system what answers at this address.", true
	case safehttp.Canceled:
		return "The test was ended.", "Repeat it.", true
	}
	return fmt.Sprintf("No answer came (%s).", failure.Class), "", true
}

// described summarises a response that is not the expected one.
func described(seen exchange) string {
	kind := "no media type"
	if seen.mediaType != "" {
		kind = plain(seen.mediaType)
	}
	switch {
	case seen.status/100 == 2:
		return fmt.Sprintf("status %d, but not the document that was asked for (%s)", seen.status, kind)
	case seen.status/100 == 3:
		return fmt.Sprintf("status %d, a redirect to where it is not followed", seen.status)
	case seen.status == http.StatusNotFound:
		return "status 404, there is nothing at this address"
	case seen.status == http.StatusUnauthorized || seen.status == http.StatusForbidden:
		return fmt.Sprintf("status %d, somebody wants to be asked for permission first (%s)", seen.status, kind)
	case seen.status == http.StatusTooManyRequests:
		return "status 429, too many requests"
	case seen.status >= http.StatusInternalServerError:
		return fmt.Sprintf("status %d, the server is in trouble (%s)", seen.status, kind)
	}
	return fmt.Sprintf("status %d (%s)", seen.status, kind)
}
