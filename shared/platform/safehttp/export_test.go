package safehttp

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"time"
)

// NewWith is New with a test's resolver, roots and total time-out.
func NewWith(options Options, resolver *net.Resolver, roots *x509.CertPool, timeout time.Duration) *Client {
	return newClient(options, seams{resolver: resolver, roots: roots, timeout: timeout})
}

// IsPublic returns the guard's decision about an address alone.
func IsPublic(address netip.Addr) bool { return newGuard(nil, true).isPublic(address) }

// Permits returns the guard's decision about a connection, for https URLs if secure is set and for http URLs otherwise.
func Permits(allow []netip.Prefix, secure bool, target string) bool {
	return newGuard(allow, secure).control(context.Background(), "tcp4", target, nil) == nil
}
