// Package suffix finds registrable domains using the public suffix list (https://publicsuffix.org).
package suffix

import "golang.org/x/net/publicsuffix"

// Domain returns the registrable domain of a host name, such as "hospital.example" for "fhir.hospital.example". If the
// host has no registrable domain (for example, an IP address or a public suffix), Domain returns the host itself.
func Domain(host string) string {
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}
