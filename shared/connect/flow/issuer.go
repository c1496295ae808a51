package flow

import (
	"net/url"
	"strings"
)

// returned reports whether a return can be from the server that the browser was sent to, by the iss that it has, or has
// not (RFC 9207 section 2.4). A portal that has to name no issuer, as those of SMART App Launch without sign-on have
// not, may send iss all the same. Then it is not known which one is right, but it is known where the code would go: an
// issuer that the attempt's addresses lie below loses nothing by it, and any other might be one whose patient a hostile
// portal has sent here.
func (s Server) returned(iss string) bool {
	switch {
	case s.Issuer != "":
		return iss == s.Issuer || iss == "" && !s.IssRequired
	case iss == "":
		return true
	}
	return isBelow(iss, s.AuthorizationEndpoint) && isBelow(iss, s.TokenEndpoint)
}

// isBelow reports whether an address that discovery has checked begins with an issuer's, in the same
// spelling, and stays below it.
func isBelow(issuer, address string) bool {
	root, err := url.Parse(issuer)
	if err != nil || root.Host == "" {
		return false
	}
	rest, found := strings.CutPrefix(address, strings.TrimSuffix(issuer, "/")+"/")
	path, err := url.PathUnescape(rest)
	return found && err == nil && !strings.Contains(path, "..")
}
