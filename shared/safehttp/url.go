package safehttp

import (
	"net/netip"
	"net/url"
	"strings"
)

// acceptable reports whether a URL means the same to every parser and carries nothing that is not sent or that is
// sent without being meant, such as user information.
func acceptable(target *url.URL) bool {
	return target != nil && (target.Scheme == "https" || target.Scheme == "http") && target.Opaque == "" &&
		target.User == nil && target.Fragment == "" && acceptableHost(target.Hostname())
}

// acceptableHost takes IP addresses without a zone, and plain ASCII names that do not end in a number: libraries read
// 0x7f000001, 2130706433 and 127.1 as IPv4 addresses, each its own way (WHATWG URL, "ends in a number").
func acceptableHost(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Zone() == ""
	}
	name := strings.TrimSuffix(host, ".")
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if last == "" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !plain && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}
