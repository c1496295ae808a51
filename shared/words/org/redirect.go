package org

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/weburl"
)

// VerifiedRedirect is a redirect URI that is known to be registered and not to lead to this service. Only MatchRedirect
// and RestoreRedirect create one, so errors cannot be sent to an unverified URI (RFC 9700 section 4.1).
type VerifiedRedirect struct {
	uri    string
	target string // uri in the form sent to browsers
}

// MatchRedirect verifies that asked is registered, by exact comparison. asked may be empty if exactly one URI is
// registered. A registered URI that leads to the service itself is refused. The error is fault.Invalid.
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
			"redirect_uri can no longer be used: it leads to this service, or browsers read it differently.").
			About("redirect_uri")
	}
	return matched, nil
}

// RestoreRedirect returns a stored redirect that MatchRedirect verified earlier. It is zero for a URI that leads to the
// service itself.
func RestoreRedirect(own weburl.Own, stored string) VerifiedRedirect {
	target, err := redirectTarget(own, stored)
	if err != nil {
		return VerifiedRedirect{}
	}
	return VerifiedRedirect{uri: stored, target: target}
}

// URI returns the registered URI as it was matched; empty for a zero VerifiedRedirect.
func (v VerifiedRedirect) URI() string { return v.uri }

// With returns the URI with params added to its query, replacing parameters of the same name.
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

// NewRedirectURI returns a redirect URI in the form registered for mode: https, a native app's custom scheme, or in
// test mode http to a loopback address. It must have no fragment, wildcard or user information (RFC 9700 section 2.1),
// and no host of this service. The error is fault.Invalid.
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

// redirectTarget returns a redirect URI in the form sent to browsers.
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
