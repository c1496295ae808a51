package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
)

// checkIssuer reports the issuer that a patient's callback must match (RFC 9207).
func (t *discovery) checkIssuer() {
	a := t.authority
	switch {
	case t.stated.IssParameter && a.Issuer == "":
		t.add(Issuer, Warning, exchange{},
			"Discovery advertises iss in authorization responses, but names no issuer. We expect the common base of "+
				"the authorization and token endpoints.",
			"Ask the health system to publish its issuer.")
	case a.Issuer == "":
		t.add(Issuer, Warning, exchange{},
			"Discovery names no issuer. Authorization responses are matched by callback URL and, if present, by iss, "+
				"which must be the common base of the authorization and token endpoints.", "")
	case a.IssRequired:
		t.add(Issuer, OK, exchange{}, fmt.Sprintf(
			"The issuer is %q. Discovery advertises iss in authorization responses, so a response with no iss or a "+
				"different one is rejected.",
			plain(a.Issuer)), "")
	default:
		t.add(Issuer, OK, exchange{}, fmt.Sprintf(
			"The issuer is %q. Discovery doesn't advertise iss in authorization responses; if a response has one, it "+
				"must match.", plain(a.Issuer)), "")
	}
}

// checkPins compares the discovered URLs with those that the client may use, as a sign-in does. Later steps treat the
// discovered URLs as approved so that they can report results too. Credentials are not sent unless trusted is set.
func (t *discovery) checkPins() {
	e, named := t.endpoint, t.authority.Addresses()
	ours := catalog.OwnURLs(t.BaseURL, e, named)
	left := e.Pins.Departures(named)
	if e.Pins == (catalog.Pins{}) {
		left = named.Untrusted(e.FHIRBase, t.Platforms.Of(e).Origins(e.FHIRBase))
	}
	t.trusted = len(ours) == 0 && len(left) == 0
	switch {
	case len(ours) > 0:
		t.add(Pins, Failed, exchange{}, "Discovery names a URL of this service: "+departed(ours)+".",
			"No health system has a reason to do so. Do not continue.")
	case len(left) > 0 && t.authority.Substitute:
		t.add(Pins, Failed, exchange{}, "The server's discovery differs from its pins ("+
			departed(left)+"), because its SMART configuration is unavailable at the moment.", "Try again later.")
	case len(left) > 0 && t.subject.Stored:
		t.add(Pins, Failed, exchange{}, "Discovery names unapproved URLs, so patients are not sent there: "+
			departed(left)+".",
			"Ask the institution whether the URLs are its own; then: endpoint approve -id "+e.ID+approval(left))
	case len(left) > 0:
		t.add(Pins, Warning, exchange{}, "Discovery names URLs outside the FHIR base's origin and the vendor's: "+
			departed(left)+". Nothing was sent there.",
			"Ask the institution whether the URLs are its own; then: endpoint create …"+approval(left))
	case t.subject.Stored && e.Pins == (catalog.Pins{}):
		t.add(Pins, Warning, exchange{},
			"The endpoint has no pins, so only its FHIR base's origin and the vendor's origins are trusted. Every "+
				"URL in discovery has one of these origins.",
			"endpoint approve -id "+e.ID)
	case t.subject.Stored:
		t.add(Pins, OK, exchange{}, "Discovery names only pinned URLs.", "")
	default:
		t.add(Pins, OK, exchange{}, "Every URL in discovery has the FHIR base's origin or one of the vendor's.", "")
	}
	if len(left) > 0 {
		t.endpoint.Pins = catalog.PinsOf(named)
	}
}

// departed lists each role's old and new locations.
func departed(left []catalog.Departure) string {
	told := make([]string, 0, len(left))
	for _, d := range left {
		told = append(told, fmt.Sprintf("%s from %s to %s", d.Role, plain(cmp.Or(d.From, "none")),
			plain(cmp.Or(d.To, "none"))))
	}
	return strings.Join(told, ", ")
}

// approval returns the command-line flags that approve the new locations.
func approval(left []catalog.Departure) string {
	var flags []string
	for _, d := range left {
		flag := " -origin " + plain(d.To)
		if d.Role == "issuer" {
			flag = fmt.Sprintf(" -issuer %q", plain(d.To))
			if d.To == "" {
				flag = ` -issuer ""`
			}
		}
		if !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	return strings.Join(flags, "")
}
