package platform

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
)

// Seen holds the signs by which a server's platform is detected.
type Seen struct {
	FHIRBase  string
	Addresses []string // of its authorization server
	Software  string   // software.name of its CapabilityStatement
}

// Detect returns the platform of a server and a short reason. The software's name, which the vendor chose, takes
// precedence over hosts, which institutions may share or own. A server of no known platform gets Generic.
func (r Registry) Detect(seen Seen) (found Profile, because string) {
	for _, p := range r.sorted {
		if slices.ContainsFunc(p.Software, func(name string) bool { return strings.EqualFold(name, seen.Software) }) {
			return p, fmt.Sprintf("the server says that its software is %q", seen.Software)
		}
	}
	for _, address := range slices.Concat([]string{seen.FHIRBase}, seen.Addresses) {
		for _, p := range r.sorted {
			if host := hostOf(address); p.at(host) {
				return p, fmt.Sprintf("%s is a host of %s", host, p.Name)
			}
		}
	}
	return r.profiles[Generic], "neither its hosts nor its software are those of a known platform"
}

// Origins returns the origins that the vendor uses for all its customers, if the FHIR base itself is at one of them. A
// FHIR base elsewhere belongs to an institution's own server, which has no right to a vendor's tokens.
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

// AtHost returns the platform whose profile lists the host of a FHIR base. It is empty if none does, and for a base
// without TLS, where anyone on the network path could respond.
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

// at reports whether a host belongs to the platform.
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
