package catalog

import (
	"net/url"
	"strings"
)

// Addresses holds an authorization server's URLs from an endpoint's discovery. URLs that the discovery document does
// not contain are empty; all others are absolute.
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
// origins were recorded when the endpoint was created or first discovered, or when an operator last approved a move.
// Codes, verifiers, secrets, assertions and tokens are sent only to the pinned origins (RFC 9700 section 4.4). An
// origin is empty if the server had no URL for the role.
type Pins struct {
	Issuer        string // issuer exactly as in the discovery (RFC 9207 section 2.4); may be empty
	Authorization string
	Token         string // origin of the token endpoint and the userinfo endpoint
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

// Departure is a role whose origin or issuer name differs from the pinned value.
type Departure struct {
	Role string // "issuer", "authorization", "token", "keys", "userinfo", "revocation" or "introspection"
	From string // pinned value; empty if nothing was pinned
	To   string // current value
}

// Departures lists the discovered URLs that differ from the pins, in order of role. A URL that the discovery document
// no longer contains is omitted, because it is not used. A missing issuer is included because iss can't be checked
// without it.
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

// named returns the issuer and the URLs with their roles.
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

// Origin returns a URL's origin in the form in which pins are stored. Scheme and host are in lower case, and a default
// port is omitted. Origin returns "" unless the URL is an absolute http or https URL with a host.
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

// Host returns a URL's origin for display to operators and patients. Host omits the default port and the scheme https.
// Host returns "" if Origin returns "".
func Host(address string) string { return strings.TrimPrefix(Origin(address), "https://") }
