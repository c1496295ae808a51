package org

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/fault"
)

// VerifiedRedirect is a redirect URI proven to be registered. Only MatchRedirect makes one, so an error cannot be
// sent to an unproven address (RFC 9700 section 4.1).
type VerifiedRedirect struct {
	uri string
}

// MatchRedirect proves that asked is registered, by exact comparison. An empty asked is allowed when exactly one
// URI is registered. The error is fault.Invalid.
func MatchRedirect(registered []string, asked string) (VerifiedRedirect, error) {
	switch {
	case asked == "" && len(registered) == 1:
		return VerifiedRedirect{uri: registered[0]}, nil
	case asked == "":
		return VerifiedRedirect{}, fault.BadRequest("redirect_uri is required when several redirect URIs are registered.").About("redirect_uri")
	case slices.Contains(registered, asked):
		return VerifiedRedirect{uri: asked}, nil
	}
	return VerifiedRedirect{}, fault.BadRequest("redirect_uri is not registered for this public_id.").About("redirect_uri")
}

// RestoreRedirect returns the redirect that an earlier MatchRedirect proved and that a store kept since.
func RestoreRedirect(stored string) VerifiedRedirect { return VerifiedRedirect{uri: stored} }

// URI returns the registered URI as it was matched.
func (v VerifiedRedirect) URI() string { return v.uri }

// With returns the URI with params in its query. Parameters of the same name are replaced, others stay.
func (v VerifiedRedirect) With(params url.Values) string {
	target, err := url.Parse(v.uri)
	if err != nil {
		return v.uri
	}
	query := target.Query()
	maps.Copy(query, params)
	target.RawQuery = query.Encode()
	return target.String()
}

// CheckRedirectURI says whether a URI may be registered in mode: https, or a custom scheme of a native app, or http
// to a loopback address in test mode; no fragment, no wildcard, no user information (RFC 9700 section 2.1).
func CheckRedirectURI(mode Mode, text string) error {
	target, err := url.Parse(text)
	if err != nil || target.Scheme == "" || strings.ContainsAny(text, "*#\r\n\t ") || target.User != nil {
		return fault.BadRequest("A redirect URI must be an absolute URI without a wildcard, a fragment or user information.")
	}
	switch target.Scheme {
	case "https":
		if target.Hostname() == "" {
			return fault.BadRequest("A redirect URI needs a host.")
		}
		return nil
	case "http":
		if mode == Test && isLoopback(target.Hostname()) {
			return nil
		}
		return fault.BadRequest("A redirect URI may use http only for a loopback address in test mode.")
	case "javascript", "data", "file", "vbscript", "about", "blob":
		return fault.BadRequest("A redirect URI cannot have this scheme.")
	}
	if !strings.Contains(target.Scheme, ".") {
		return fault.BadRequest("A custom scheme must be a reversed domain name, such as com.example.app (RFC 8252 section 7.1).")
	}
	return nil
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}
