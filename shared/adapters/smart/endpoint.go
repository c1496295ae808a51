package smart

import (
	"net/netip"
	"net/url"
	"strings"

	"recordbridge/shared/fhir"
)

// endpoint resolves a configuration's URL against the FHIR base, as SMART specifies, and checks the result. The
// operator can allow http bases in certain address ranges. If the base uses http, an endpoint may have any http or
// https URL, and only the outbound client's guard protects the request.
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

// publicHost reports whether host may be publicly reachable. publicHost rejects hosts that the outbound client's guard
// would reject without a DNS lookup. The patient's browser, which opens the authorization endpoint, has no such guard.
func publicHost(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Zone() == "" && address.IsGlobalUnicast() && !address.Unmap().IsPrivate() &&
			address.Unmap().IsGlobalUnicast()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	last := name[strings.LastIndexByte(name, '.')+1:]
	// Some parsers interpret names that end in a number as IPv4 addresses (WHATWG URL, "ends in a number").
	if last == "" || last == "localhost" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-._") == ""
}

// sameOrigin reports whether two checked URLs have the same scheme, host and port.
func sameOrigin(one, other string) bool {
	a, errA := url.Parse(one)
	b, errB := url.Parse(other)
	return errA == nil && errB == nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
