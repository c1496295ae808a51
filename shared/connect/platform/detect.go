package platform

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
)

// Seen is what a server shows of its platform.
type Seen struct {
	FHIRBase  string
	Addresses []string // of its authorization server
	Software  string   // software.name of its CapabilityStatement
}

// Detect tells the platform of a server, and in a few words what has decided it: the software's name, which the vendor
// chose, before hosts, which many institutions share or have of their own. What belongs to no platform is Generic.
func (r Registry) Detect(seen Seen) (found Profile, because string) {
	for _, p := range r.sorted {
		if slices.ContainsFunc(p.Software, func(name string) bool { return strings.EqualFold(name, seen.Software) }) {
			return p, fmt.Sprintf("the server reports the software %q", seen.Software)
		}
	}
	for _, address := range slices.Concat([]string{seen.FHIRBase}, seen.Addresses) {
		for _, p := range r.sorted {
			if host := hostOf(address); p.at(host) {
				return p, fmt.Sprintf("%s is a host of %s", host, p.Name)
			}
		}
	}
	return r.profiles[Generic], "neither its hosts nor its software belong to a known platform"
}

// Origins are those that the vendor has for all its customers, where the FHIR base itself is at one of them. Whoever
// has the base elsewhere has an institution's own server, and no right to a vendor's tokens.
func (p Profile) Origins(fhirBase string) []string {
	var origins []string
	for _, host := range p.Hosts {
		if !strings.HasPrefix(host, "*.") {
			origins = append(origins, "https://"+host)
		}
	}
	if !slices.Contains(origins, catalog.Origin(fhirBase)) {
		return nil
	}
	return origins
}

// AtHost returns the platform whose profile knows the host of a FHIR base; empty if none does, and for a base without
// TLS, which anybody on the way could answer for.
func (r Registry) AtHost(fhirBase string) string {
	host := hostOf(fhirBase)
	if !strings.HasPrefix(strings.ToLower(fhirBase), "https://") {
		return ""
	}
	for _, p := range r.sorted {
		if p.at(host) {
			return p.ID
		}
	}
	return ""
}

// at reports whether a host is one of the platform's.
func (p Profile) at(host string) bool {
	return slices.ContainsFunc(p.Hosts, func(known string) bool {
		above, below := strings.CutPrefix(known, "*")
		return host == known || below && strings.HasSuffix(host, above)
	})
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
