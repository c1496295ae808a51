// Package suffix finds registrable domains using the public suffix list (https://publicsuffix.org).
package suffix

import "golang.org/x/net/publicsuffix"

// Domain returns the registrable domain of a host name: "hospital.example" for "fhir.hospital.example". It returns the
// host itself if it has none, for example because it is an IP address or a public suffix.
func Domain(host string) string {
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}
