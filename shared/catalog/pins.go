package catalog

import (
	"net/url"
	"strings"
)

// Addresses holds the URLs of an endpoint's authorization server from a discovery: absolute URLs, each empty if not
// stated.
type Addresses struct {
	Issuer        string
	Authorization string
	Token         string
	Keys          string // jwks_uri
	Userinfo      string
	Revocation    string
	Introspection string
}

// Pins holds the issuer and the origins (RFC 6454: scheme, host and port) of an endpoint's authorization server at the
// time when an operator created the endpoint or approved its move. Codes, verifiers, secrets, assertions and tokens are
// sent nowhere else (RFC 9700 section 4.4). An empty origin means that the server did not have the role.
type Pins struct {
	Issuer        string // exactly as in the discovery (RFC 9207 section 2.4); may be empty
	Authorization string
	Token         string // covers userinfo as well
	Keys          string
	Revocation    string
	Introspection string
}

// PinsOf returns the pins of a server's current discovery.
func PinsOf(a Addresses) Pins {
	return Pins{
		Issuer: a.Issuer, Authorization: Origin(a.Authorization), Token: Origin(a.Token), Keys: Origin(a.Keys),
		Revocation: Origin(a.Revocation), Introspection: Origin(a.Introspection),
	}
}

// Departure is a role whose origin (or, for the issuer, whose name) differs from the expected one.
type Departure struct {
	Role string // "issuer", "authorization", "token", "keys", "userinfo", "revocation" or "introspection"
	From string // the pinned value; empty if there was none
	To   string // the current value
}

// Departures lists the parts of a discovery that differ from the pins, in the order of the roles. A part that the
// discovery no longer contains is not listed, because it is not used then. The issuer is an exception: its absence
// would disable the check of iss.
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

// Untrusted lists the parts of a discovery that are neither at the origin of the FHIR base nor at a known one. Only an
// operator can confirm that they belong to the institution.
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

// named returns the URLs by role, the issuer first.
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

// roles returns the origins in a discovery by role, without the issuer's.
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

// Origin returns the origin of a URL in the form of pins: scheme and host in lower case, without the scheme's default
// port. It returns "" unless the URL is an absolute http or https URL with a host.
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

// Host returns the origin of a URL for operators and patients: the host, with a port that is not the default, and with
// a scheme that is not https. It is empty if Origin is.
func Host(address string) string { return strings.TrimPrefix(Origin(address), "https://") }
