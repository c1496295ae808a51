package catalog

import (
	"net/url"
	"strings"
)

// Addresses holds an authorization server's URLs from an endpoint's discovery. Each URL is either absolute or, if the
// discovery does not contain the URL, empty.
type Addresses struct {
	Issuer        string
	Authorization string
	Token         string
	Keys          string // jwks_uri
	Userinfo      string
	Revocation    string
	Introspection string
}

// Pins records the issuer and the origins (RFC 6454: scheme, host and port) of an endpoint's authorization server. The
// values date from the endpoint's creation or from the operator's last approval of a move. Codes, verifiers, secrets,
// assertions and tokens are sent only to the pinned origins (RFC 9700 section 4.4). An origin is empty if the server
// didn't have a URL for that role.
type Pins struct {
	Issuer        string // issuer exactly as in the discovery (RFC 9207 section 2.4); may be empty
	Authorization string
	Token         string // origin for the token endpoint and for userinfo
	Keys          string
	Revocation    string
	Introspection string
}

// PinsOf returns the pins for a discovery's URLs.
func PinsOf(a Addresses) Pins {
	return Pins{
		Issuer: a.Issuer, Authorization: Origin(a.Authorization), Token: Origin(a.Token), Keys: Origin(a.Keys),
		Revocation: Origin(a.Revocation), Introspection: Origin(a.Introspection),
	}
}

// Departure is a role whose origin, or issuer name, differs from the expected value.
type Departure struct {
	Role string // "issuer", "authorization", "token", "keys", "userinfo", "revocation" or "introspection"
	From string // pinned value; empty if nothing was pinned
	To   string // current value
}

// Departures lists the discovered URLs that differ from the pins, in the order of the roles. Departures omits URLs that
// the discovery no longer contains, because such URLs are not used. Departures includes a missing issuer, because iss
// would not be checked without an issuer.
func (p Pins) Departures(a Addresses) []Departure {
	var left []Departure
	if a.Issuer != p.Issuer {
		left = append(left, Departure{Role: "issuer", From: p.Issuer, To: a.Issuer})
	}
	for _, role := range a.roles() {
		if from := p.origin(role.Role); role.To != "" && role.To != from {
			left = append(left, Departure{Role: role.Role, From: from, To: role.To})
		}
	}
	return left
}

// Untrusted lists the discovered URLs whose origin is neither the FHIR base's origin nor a known origin. Only an
// operator can confirm that these URLs belong to the institution.
func (a Addresses) Untrusted(base string, known []string) []Departure {
	home := map[string]bool{Origin(base): true}
	for _, origin := range known {
		home[origin] = true
	}
	var abroad []Departure
	if a.Issuer != "" && !home[Origin(a.Issuer)] {
		abroad = append(abroad, Departure{Role: "issuer", To: a.Issuer})
	}
	for _, role := range a.roles() {
		if role.To != "" && !home[role.To] {
			abroad = append(abroad, role)
		}
	}
	return abroad
}

// named returns the issuer and the URLs, keyed by role.
func (a Addresses) named() []Departure {
	return []Departure{
		{Role: "issuer", To: a.Issuer},
		{Role: "authorization", To: a.Authorization},
		{Role: "token", To: a.Token},
		{Role: "keys", To: a.Keys},
		{Role: "userinfo", To: a.Userinfo},
		{Role: "revocation", To: a.Revocation},
		{Role: "introspection", To: a.Introspection},
	}
}

// roles returns the discovered origins, keyed by role, without the issuer.
func (a Addresses) roles() []Departure {
	list := a.named()[1:]
	for i := range list {
		list[i].To = Origin(list[i].To)
	}
	return list
}

func (p Pins) origin(role string) string {
	return map[string]string{
		"authorization": p.Authorization, "token": p.Token, "keys": p.Keys, "userinfo": p.Token,
		"revocation": p.Revocation, "introspection": p.Introspection,
	}[role]
}

// Origin returns a URL's origin in the form used for pins. The form has the scheme and host in lower case, without the
// scheme's default port. Origin returns "" unless the URL is an absolute http or https URL with a host.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return ""
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":")
	case "http":
		host = strings.TrimSuffix(strings.TrimSuffix(host, ":80"), ":")
	default:
		return ""
	}
	return scheme + "://" + host
}

// Host returns a URL's origin for display to operators and patients. The result is the host, with the port unless it is
// the default port, and with the scheme unless it is https. Host returns "" if Origin returns "".
func Host(address string) string { return strings.TrimPrefix(Origin(address), "https://") }
