package platform

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"recordbridge/shared/catalog"
)

// Seen holds the evidence for detecting a server's platform.
type Seen struct {
	FHIRBase  string
	Addresses []string // authorization server's URLs
	Software  string   // software.name from the server's CapabilityStatement
}

// Detect returns a server's platform and a short reason. The software's name, chosen by the vendor, takes precedence
// over hosts, which institutions may share or own. If no platform matches, Detect returns Generic.
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

// Origins returns the origins that the vendor uses for all its customers if the FHIR base URL has one of them. Any
// other FHIR base URL belongs to an institution's own server, which must not receive tokens for the vendor.
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

// AtHost returns the platform whose profile lists the host of a FHIR base URL. It returns "" if no profile lists the
// host. AtHost also returns "" for a URL without TLS, because anyone on the network path could respond in the server's
// place.
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
