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

// exchange holds the reportable details of a request and its response.
type exchange struct {
	asked     string // method, origin and path; the query may be confidential
	status    int    // HTTP status; 0 if no response arrived
	mediaType string
	said      string // error_description of a rejected POST, safe for a terminal
}

// recordingDoer sends a single test's requests sequentially and records the last request and the last POST. The two can
// differ because, after a rejected refresh, package smart may check whether the token endpoint has moved.
type recordingDoer struct {
	doer   smart.Doer
	last   exchange
	posted exchange
}

// Do implements smart.Doer.
func (w *recordingDoer) Do(request *http.Request) (*http.Response, error) {
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

// forget clears the recorded requests, so that a step that sends no requests doesn't report those of the previous step.
func (w *recordingDoer) forget() { w.last, w.posted = exchange{}, exchange{} }

func place(u *url.URL) string {
	return plain(catalog.Origin(u.Scheme+"://"+u.Host) + u.EscapedPath())
}

// unanswered explains why the server did not respond and recommends an action. ok is false if the server responded.
func unanswered(err error) (found, do string, ok bool) {
	failure, ok := errors.AsType[*safehttp.Error](err)
	if !ok {
		return "", "", false
	}
	switch failure.Class {
	case safehttp.DNS:
		return "The host name doesn't resolve.",
			"Check the name for a typo; ask the health system for the public one.", true
	case safehttp.Connect:
		return "The host refuses the connection.",
			"Ask the health system whether its server is running and reachable from the internet.", true
	case safehttp.TLS:
		return "The TLS handshake failed: the certificate is untrusted or for another host, or the server's TLS is " +
				"older than 1.2.",
			"Ask the health system to fix its certificate; often an intermediate certificate is missing.", true
	case safehttp.Timeout:
		return "The request timed out.", "Try again. Ask the health system whether a firewall blocks us.", true
	case safehttp.BlockedAddress:
		return "The host has a private or otherwise forbidden IP address, or the port is not 443. This service " +
				"doesn't connect to it.",
			"Use the health system's public URL, on port 443.", true
	case safehttp.BadURL:
		return "The URL is ambiguous between URL parsers, so nothing was sent.",
			"Ask the health system for a plain https URL.", true
	case safehttp.BadAnswer:
		return "The connection broke, or the response was not HTTP.", "Ask the health system which server is at this " +
			"URL.", true
	case safehttp.TooLarge:
		return "The response exceeds the size limit for its " +
			"kind.", "Ask the health system which server is at this URL.", true
	case safehttp.Canceled:
		return "The check was cancelled.", "Run it again.", true
	}
	return fmt.Sprintf("There was no response (%s).", failure.Class), "", true
}

// described summarises an unexpected response.
func described(seen exchange) string {
	kind := "no content type"
	if seen.mediaType != "" {
		kind = plain(seen.mediaType)
	}
	switch {
	case seen.status/100 == 2:
		return fmt.Sprintf("status %d, but not the requested document (%s)", seen.status, kind)
	case seen.status/100 == 3:
		return fmt.Sprintf("status %d, a redirect, which is not followed here", seen.status)
	case seen.status == http.StatusNotFound:
		return "status 404, not found"
	case seen.status == http.StatusUnauthorized || seen.status == http.StatusForbidden:
		return fmt.Sprintf("status %d, access denied (%s)", seen.status, kind)
	case seen.status == http.StatusTooManyRequests:
		return "status 429, too many requests"
	case seen.status >= http.StatusInternalServerError:
		return fmt.Sprintf("status %d, a server error (%s)", seen.status, kind)
	}
	return fmt.Sprintf("status %d (%s)", seen.status, kind)
}
