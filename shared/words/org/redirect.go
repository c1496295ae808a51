package org

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/weburl"
)

// VerifiedRedirect is a redirect URI that is registered and doesn't point to this service. Only MatchRedirect and
// RestoreRedirect create a VerifiedRedirect, so that errors can't be redirected to an unverified URI (RFC 9700 section
// 4.1).
type VerifiedRedirect struct {
	uri    string
	target string
}

// MatchRedirect verifies that asked is a registered URI. The URIs are compared exactly. asked may be empty if exactly
// one URI is registered. MatchRedirect returns fault.Invalid if the URI is not registered or points to this service.
func MatchRedirect(own weburl.Own, registered []string, asked string) (VerifiedRedirect, error) {
	switch {
	case asked == "" && len(registered) == 1:
		asked = registered[0]
	case asked == "":
		return VerifiedRedirect{}, fault.BadRequest(
			"redirect_uri is required when several redirect URIs are registered.").About("redirect_uri")
	case !slices.Contains(registered, asked):
		return VerifiedRedirect{}, fault.BadRequest(
			"redirect_uri is not registered for this public_id.").About("redirect_uri")
	}
	matched := RestoreRedirect(own, asked)
	if matched.uri == "" {
		return VerifiedRedirect{}, fault.BadRequest(
			"redirect_uri is no longer allowed: it leads to this service, or browsers interpret it differently.").
			About("redirect_uri")
	}
	return matched, nil
}

// RestoreRedirect returns a stored redirect URI that MatchRedirect verified earlier. It returns the zero value for a
// URI that points to this service.
func RestoreRedirect(own weburl.Own, stored string) VerifiedRedirect {
	target, err := redirectTarget(own, stored)
	if err != nil {
		return VerifiedRedirect{}
	}
	return VerifiedRedirect{uri: stored, target: target}
}

// URI returns the URI as registered, or "" for a zero VerifiedRedirect.
func (v VerifiedRedirect) URI() string { return v.uri }

// With returns the URI with params added to its query. params replaces existing parameters with the same names.
func (v VerifiedRedirect) With(params url.Values) string {
	target, err := url.Parse(v.target)
	if err != nil {
		return v.target
	}
	query := target.Query()
	maps.Copy(query, params)
	target.RawQuery = query.Encode()
	return target.String()
}

// NewRedirectURI validates a redirect URI for registration in the given mode. NewRedirectURI accepts https, a native
// app's custom scheme and, in test mode, http to a loopback address. NewRedirectURI returns fault.Invalid for URIs with
// a fragment, a wildcard or user information (RFC 9700 section 2.1), and for the service's own hosts.
func NewRedirectURI(own weburl.Own, mode Mode, text string) (string, error) {
	if strings.ContainsAny(text, "*#") {
		return "", fault.BadRequest("A redirect URI must be an absolute URI without a wildcard, a fragment or user " +
			"information.")
	}
	uri, err := redirectTarget(own, text)
	if err != nil {
		return "", err
	}
	if u, err := own.Parse(uri); err == nil && !u.IsSecure() && (mode != Test || !u.IsLocalhost()) {
		return "", fault.BadRequest("A redirect URI may use http only for a loopback address in test mode.")
	}
	return uri, nil
}

// redirectTarget returns a redirect URI in the form that is sent to browsers.
func redirectTarget(own weburl.Own, text string) (string, error) {
	target, err := url.Parse(text)
	if err != nil || target.Scheme == "" || strings.ContainsAny(text, "\r\n\t ") || target.User != nil {
		return "", fault.BadRequest("A redirect URI must be an absolute URI without a wildcard, a fragment or user " +
			"information.")
	}
	switch {
	case target.Scheme == "https" || target.Scheme == "http":
		u, err := own.Parse(text)
		if err != nil {
			return "", fault.BadRequest("A redirect URI" + refusal(err))
		}
		return u.String(), nil
	case !strings.Contains(target.Scheme, "."):
		return "", fault.BadRequest("A custom scheme must be a reversed domain name, such as com.example.app (RFC 8252 " +
			"section 7.1).")
	}
	return text, nil
}
