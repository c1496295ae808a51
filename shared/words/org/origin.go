package org

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"recordbridge/shared/words/fault"
	"recordbridge/shared/words/weburl"
)

// appOrigin matches a web view's origin with a custom scheme, such as capacitor://localhost.
var appOrigin = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://[a-z0-9._-]+(:[0-9]+)?$`)

// NewOrigin validates an allowed origin and returns it in the form that browsers send (RFC 6454). NewOrigin accepts
// https, http on localhost, and the custom scheme of an app's web view. NewOrigin returns fault.Invalid for paths,
// wildcards and the service's own hosts.
func NewOrigin(own weburl.Own, text string) (string, error) {
	if appOrigin.MatchString(text) && !strings.HasPrefix(text, "http:") && !strings.HasPrefix(text, "https:") {
		return text, nil
	}
	u, err := own.Parse(text)
	switch {
	case err != nil:
		return "", fault.BadRequest("An origin" + refusal(err))
	case u.String() != u.Origin(), u.Origin() != text && isASCII(text):
		return "", fault.BadRequest("An origin must be written as browsers send it, such as https://app.example: " +
			"scheme and lower-case host, without a path.")
	case !u.IsSecure() && !u.IsLocalhost():
		return "", fault.BadRequest("An origin must use https; http only for localhost.")
	}
	return u.Origin(), nil
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// refusal returns the end of an error message about a URL that weburl.Own rejected.
func refusal(err error) string {
	if errors.Is(err, weburl.ErrOwn) {
		return " can't lead to this service."
	}
	return " must be an absolute URL with a public host name, without a wildcard or user information."
}
