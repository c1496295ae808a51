package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
)

// checkIssuer reports the issuer with which a patient's callback will be compared (RFC 9207).
func (t *discovery) checkIssuer() {
	a := t.authority
	switch {
	case t.stated.IssParameter && a.Issuer == "":
		t.add(Issuer, Warning, exchange{},
			"Discovery promises iss on every return, but names no issuer: what sign-in and tokens lie below is taken for it.",
			"Ask the health system to name its issuer.")
	case a.Issuer == "":
		t.add(Issuer, Warning, exchange{},
			"Discovery names no issuer. That a return is this server's is told by the callback address, and by iss if there "+
				"is one: what sign-in and tokens lie below.", "")
	case a.IssRequired:
		t.add(Issuer, OK, exchange{}, fmt.Sprintf(
			"The issuer is %q. Discovery promises iss on every return: one without it, or with another, is refused.",
			plain(a.Issuer)), "")
	default:
		t.add(Issuer, OK, exchange{}, fmt.Sprintf(
			"The issuer is %q. Discovery promises no iss on returns: one that has it must be this.", plain(a.Issuer)), "")
	}
}

// checkPins compares the discovery with the URLs that our client may use, as a sign-in does. The later steps use the
// endpoint as if the operator had approved the discovery, so that they can be reported as well; trusted prevents
// credentials from being sent.
func (t *discovery) checkPins() {
	e, named := t.endpoint, t.authority.Addresses()
	ours := catalog.Ours(t.BaseURL, e, named)
	left := e.Pins.Departures(named)
	if e.Pins == (catalog.Pins{}) {
		left = named.Abroad(e.FHIRBase, t.Platforms.Of(e).Origins(e.FHIRBase))
	}
	t.trusted = len(ours) == 0 && len(left) == 0
	switch {
	case len(ours) > 0:
		t.add(Pins, Failed, exchange{}, "Discovery names an address of this service itself: "+departed(ours)+".",
			"No health system has a reason to do so. Do not go on.")
	case len(left) > 0 && t.authority.Substitute:
		t.add(Pins, Failed, exchange{}, "The server does not say now what it said when its pins were approved ("+
			departed(left)+"), since its SMART configuration "+
			"cannot be had at the moment.", "Try again later.")
	case len(left) > 0 && t.subject.Stored:
		t.add(Pins, Failed, exchange{}, "Discovery names what nobody has approved, so nobody is sent there: "+
			departed(left)+".",
			"Ask the institution whether that is theirs; then: endpoint approve -id "+e.ID+approval(left))
	case len(left) > 0:
		t.add(Pins, Warning, exchange{}, "Discovery names what is neither at the FHIR base nor the vendor's own: "+
			departed(left)+". Nothing was sent there.",
			"Ask the institution whether that is theirs; then: endpoint create …"+approval(left))
	case t.subject.Stored && e.Pins == (catalog.Pins{}):
		t.add(Pins, Warning, exchange{},
			"The endpoint has no pins, so that only its FHIR base's origin and the vendor's own are trusted. All that "+
				"discovery names is there.",
			"endpoint approve -id "+e.ID)
	case t.subject.Stored:
		t.add(Pins, OK, exchange{}, "Discovery names nothing but what is pinned.", "")
	default:
		t.add(Pins, OK, exchange{}, "All that discovery names is at the FHIR base's origin or the vendor's own.", "")
	}
	if len(left) > 0 {
		t.endpoint.Pins = catalog.PinsOf(named)
	}
}

// departed lists the new location of each role.
func departed(left []catalog.Departure) string {
	told := make([]string, 0, len(left))
	for _, d := range left {
		told = append(told, fmt.Sprintf("%s from %s to %s", d.Role, plain(cmp.Or(d.From, "none")),
			plain(cmp.Or(d.To, "none"))))
	}
	return strings.Join(told, ", ")
}

// approval returns the flags that approve these locations.
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
