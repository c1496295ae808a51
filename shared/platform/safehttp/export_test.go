package safehttp

import (
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"time"
)

// NewWith is like New but uses the given resolver, roots and total timeout.
func NewWith(options Options, resolver *net.Resolver, roots *x509.CertPool, timeout time.Duration) *Client {
	return newClient(options, seams{resolver: resolver, roots: roots, timeout: timeout})
}

// IsPublic reports whether the guard considers an address public.
func IsPublic(address netip.Addr) bool { return newGuard(nil, true).isPublic(address) }

// Permits reports whether the guard allows a connection to an address. The secure argument distinguishes https URLs
// from http URLs.
func Permits(allow []netip.Prefix, secure bool, target string) bool {
	return newGuard(allow, secure).control(context.Background(), "tcp4", target, nil) == nil
}
