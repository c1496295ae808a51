package safehttp

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"time"
)

func NewWith(options Options, resolver *net.Resolver, roots *x509.CertPool, timeout time.Duration) *Client {
	return newClient(options, seams{resolver: resolver, roots: roots, timeout: timeout})
}

func IsPublic(address netip.Addr) bool { return newGuard(nil, true).isPublic(address) }

// Permits reports whether the guard allows a connection to an address. secure is true for https URLs.
func Permits(allow []netip.Prefix, secure bool, target string) bool {
	return newGuard(allow, secure).control(context.Background(), "tcp4", target, nil) == nil
}
