package flow

import (
	"net/url"
	"strings"
)

// returned reports whether a return can be from the portal that the attempt's browser was sent to, by the iss that it has, or has not
// (RFC 9207 section 2.4). A portal that has to name no issuer, as those of SMART App Launch without sign-on have not, may send iss
// all the same. Then it is not known which one is right, but it is known where the code would go: an issuer that the attempt's addresses
// lie below loses nothing by it, and any other might be one whose patient a hostile portal has sent here.
func (a Attempt) returned(iss string) bool {
	switch {
	case a.Issuer != "":
		return iss == a.Issuer || iss == "" && !a.IssRequired
	case iss == "":
		return true
	}
	return isBelow(iss, a.AuthorizationEndpoint) && isBelow(iss, a.TokenEndpoint)
}

// isBelow reports whether an address that discovery has checked begins with an issuer's, in the same spelling, and stays below it.
func isBelow(issuer, address string) bool {
	root, err := url.Parse(issuer)
	if err != nil || root.Host == "" {
		return false
	}
	rest, found := strings.CutPrefix(address, strings.TrimSuffix(issuer, "/")+"/")
	path, err := url.PathUnescape(rest)
	return found && err == nil && !strings.Contains(path, "..")
}
