package smart

import (
	"net/netip"
	"net/url"
	"strings"

	"recordbridge/shared/fhir"
)

// endpoint resolves an address of a configuration against the FHIR base, as SMART has it, and checks it. Behind a base
// at an http address, which only the ranges that the operator allows can have, it may be http and anywhere: there the
// guard of the outbound client decides alone.
func endpoint(base fhir.Base, text string) (address string, ok bool) {
	root, err := url.Parse(base.String() + "/")
	if err != nil || text == "" || len(text) > maxAddress {
		return "", false
	}
	target, err := root.Parse(text)
	if err != nil || target.Host == "" || target.User != nil || target.Fragment != "" || target.Opaque != "" {
		return "", false
	}
	switch target.Scheme {
	case "https":
		return target.String(), root.Scheme == "http" || target.Host == root.Host || publicHost(target.Hostname())
	case "http":
		return target.String(), root.Scheme == "http"
	}
	return "", false
}

// publicHost refuses what the guard of the outbound client would refuse without asking the resolver. The patient's
// browser has no such guard, and it is what visits the authorization endpoint.
func publicHost(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Zone() == "" && address.IsGlobalUnicast() && !address.Unmap().IsPrivate() &&
			address.Unmap().IsGlobalUnicast()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	// Names that end in a number are IPv4 addresses to some parsers (WHATWG URL, "ends in a number").
	if last == "" || last == "localhost" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-._") == ""
}

// sameOrigin reports whether two checked addresses have scheme, host and port in common.
func sameOrigin(one, other string) bool {
	a, errA := url.Parse(one)
	b, errB := url.Parse(other)
	return errA == nil && errB == nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
