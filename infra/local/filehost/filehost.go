// Package filehost gives files a separate host name on a laptop, as on AWS. The separate name keeps browsers from
// sending the API's cookies to files; clients that compare host names without ports, such as Go's net/http, do not
// forward keys. Only URLs given to clients contain the host name. The functions use the IP address instead, so the SDKs
// put the bucket in the path.
//
// Names below localhost are loopback names (RFC 6761, section 6.3). Browsers and curl treat names below localhost as
// loopback. Most other programs query the system's resolver for names below localhost.
package filehost

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Name is the host name for files.
const Name = "files.localhost"

// lookupTime is the time limit for a query to the system's resolver.
const lookupTime = time.Second

// Lookup resolves a host name, like net.Resolver.LookupNetIP.
type Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// URL returns the base URL at which clients reach the files served at listener. The URL contains Name if this machine
// resolves Name only to loopback addresses, including the listener's. Otherwise, the URL contains the listener's
// address.
func URL(ctx context.Context, lookup Lookup, listener netip.AddrPort) string {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := lookup(ctx, "ip", Name)
	for i := range found {
		found[i] = found[i].Unmap()
	}
	outside := slices.ContainsFunc(found, func(at netip.Addr) bool { return !at.IsLoopback() })
	if err != nil || outside || !slices.Contains(found, listener.Addr()) {
		return "http://" + listener.String()
	}
	return "http://" + net.JoinHostPort(Name, portOf(listener.String()))
}

// Files returns a handler that serves S3 at the listener's address and at url. For requests to url, Files restores the
// listener's host, because signatures cover the host.
func Files(listener, url string, next http.Handler) http.Handler {
	host := strings.TrimPrefix(url, "http://")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(r.Host, host) {
			r.Host = listener
		}
		next.ServeHTTP(w, r)
	})
}

// Redirects returns a handler that rewrites redirects from next so that files served by listener are reached at url.
func Redirects(listener, url string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(redirecting{w, "http://" + listener + "/", url + "/"}, r)
	})
}

type redirecting struct {
	http.ResponseWriter

	from, to string
}

// WriteHeader implements http.ResponseWriter.
func (r redirecting) WriteHeader(status int) {
	if rest, leads := strings.CutPrefix(r.Header().Get("Location"), r.from); leads {
		r.Header().Set("Location", r.to+rest)
	}
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (r redirecting) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }
