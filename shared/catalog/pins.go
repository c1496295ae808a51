package catalog

import (
	"net/url"
	"strings"
)

// Addresses are what a discovery says of an endpoint's authorization server: absolute URLs, each empty when not stated.
type Addresses struct {
	Issuer        string
	Authorization string
	Token         string
	Keys          string // jwks_uri
	Userinfo      string
	Revocation    string
	Introspection string
}

// Pins are the issuer and the origins (RFC 6454: scheme, host and port) that an endpoint's authorization server had
// when an operator made the endpoint or approved its move. Codes, verifiers, secrets, assertions and tokens go nowhere
// else (RFC 9700 section 4.4). An empty origin is a role that the server did not have.
type Pins struct {
	Issuer        string // exactly as discovery says it (RFC 9207 section 2.4); empty when it names none
	Authorization string
	Token         string // userinfo, too
	Keys          string
	Revocation    string
	Introspection string
}

// PinsOf are the pins of a server as it is discovered now.
func PinsOf(a Addresses) Pins {
	return Pins{
		Issuer: a.Issuer, Authorization: Origin(a.Authorization), Token: Origin(a.Token), Keys: Origin(a.Keys),
		Revocation: Origin(a.Revocation), Introspection: Origin(a.Introspection),
	}
}

// Departure is one role whose origin, or for the issuer whose name, is another than it has to be.
type Departure struct {
	Role string // "issuer", "authorization", "token", "keys", "userinfo", "revocation" or "introspection"
	From string // pinned; empty where nothing was
	To   string // named now
}

// Departures lists what of a discovery has left the pins, in the order of the roles. What it no longer names has not:
// it is not used then. But for the issuer, whose absence would switch the check of iss off.
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

// Abroad lists what of a discovery is neither at the origin of the FHIR base nor at one that is known to be right: what
// nobody but an operator can say belongs to the institution.
func (a Addresses) Abroad(base string, known []string) []Departure {
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

// named are the addresses by role, the issuer first.
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

// roles are the origins that a discovery names, by role, without the issuer's.
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

// Origin is the origin of a URL as pins keep it: scheme and host in lower case, without a port that is the scheme's
// own; empty for what is no absolute http or https URL with a host.
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

// Host is the origin of a URL as operators and patients read it: the host, with its port unless that is the scheme's
// own, and with the scheme unless it is https; empty as Origin is.
func Host(address string) string { return strings.TrimPrefix(Origin(address), "https://") }
