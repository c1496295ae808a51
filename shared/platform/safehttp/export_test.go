package safehttp

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"time"
)

// NewWith is New with the resolver, the roots and the total timeout of a test.
func NewWith(options Options, resolver *net.Resolver, roots *x509.CertPool, timeout time.Duration) *Client {
	return newClient(options, seams{resolver: resolver, roots: roots, timeout: timeout})
}

// IsPublic is the guard's verdict on an address alone.
func IsPublic(address netip.Addr) bool { return newGuard(nil, true).isPublic(address) }

// Permits is the guard's verdict on a connection, for https URLs if secure and for http URLs otherwise.
func Permits(allow []netip.Prefix, secure bool, target string) bool {
	return newGuard(allow, secure).control(context.Background(), "tcp4", target, nil) == nil
}
