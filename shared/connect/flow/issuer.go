package flow

import (
	"net/url"
	"strings"
)

// returned reports whether a return can come from the server to which the browser was sent, judging by its iss or the
// lack of one (RFC 9207 section 2.4). A portal that need not name an issuer, such as one of SMART App Launch without
// sign-on, may still send iss. It is then unknown which issuer is right, but the code's destination is known: an issuer
// below which the attempt's URLs lie loses nothing. Any other might be one whose patient a hostile portal has
// redirected here.
func (s Server) returned(iss string) bool {
	switch {
	case s.Issuer != "":
		return iss == s.Issuer || iss == "" && !s.IssRequired
	case iss == "":
		return true
	}
	return isBelow(iss, s.AuthorizationEndpoint) && isBelow(iss, s.TokenEndpoint)
}

// isBelow reports whether a URL that discovery has validated begins with an issuer's URL, in the same spelling, and
// stays below it.
func isBelow(issuer, address string) bool {
	root, err := url.Parse(issuer)
	if err != nil || root.Host == "" {
		return false
	}
	rest, found := strings.CutPrefix(address, strings.TrimSuffix(issuer, "/")+"/")
	path, err := url.PathUnescape(rest)
	return found && err == nil && !strings.Contains(path, "..")
}
