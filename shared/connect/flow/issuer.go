package flow

import (
	"net/url"
	"strings"
)

// returned reports whether a response can come from the server to which the browser was sent, judging by the presence
// and value of iss (RFC 9207 section 2.4). A portal that isn't required to identify its issuer, such as a SMART App
// Launch portal without sign-on, may still send iss. Such a portal's issuer is unknown, but the code's destination is
// known, so returned accepts an issuer that is a prefix of the attempt's URLs. It rejects any other issuer, because a
// hostile portal may have redirected its own patient to this callback URL.
func (s Server) returned(iss string) bool {
	switch {
	case s.Issuer != "":
		return iss == s.Issuer || iss == "" && !s.IssRequired
	case iss == "":
		return true
	}
	return isBelow(iss, s.AuthorizationEndpoint) && isBelow(iss, s.TokenEndpoint)
}

// isBelow reports whether address begins with the issuer's URL, spelled identically, and stays within the issuer's
// path. address must be a URL validated by discovery.
func isBelow(issuer, address string) bool {
	root, err := url.Parse(issuer)
	if err != nil || root.Host == "" {
		return false
	}
	rest, found := strings.CutPrefix(address, strings.TrimSuffix(issuer, "/")+"/")
	path, err := url.PathUnescape(rest)
	return found && err == nil && !strings.Contains(path, "..")
}
